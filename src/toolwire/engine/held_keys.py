"""The keys under which calls run here, or are about to; it neither claims them in the store nor runs anything."""

from collections.abc import Generator
from contextlib import contextmanager

import anyio

from toolwire.core.errors import Conflict
from toolwire.engine.claims import Claim, check_same
from toolwire.engine.record import Record

RETRY_MS = 1000


class HeldKeys:
    """The keys of this process's calls, by *scope*: where a key's claim lies in the store (`claims.scope_of`).

    A scope goes from free to *claiming* (its first call is being committed), to *held* (that call runs), to free again.
    Whoever comes with the same key meanwhile waits for the commit and then joins the call.

    Args:
        joins: false has whoever comes with the key of a running call told so, instead (gateway.md D4).
    """

    def __init__(self, joins: bool = True) -> None:
        self._joins = joins
        self._claiming: dict[str, anyio.Event | None] = {}
        self._held: dict[str, tuple[Claim, Record]] = {}
        self._scope_of_call: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self._held or self._claiming)

    def __contains__(self, scope: str) -> bool:
        return scope in self._held or scope in self._claiming

    async def join(self, scope: str, fingerprint: str) -> tuple[Claim, Record] | None:
        """The call that runs under a key, if one does; one that is about to is waited for.

        Raises:
            IdempotencyKeyReused: it is another call.
            Conflict: it runs, and nobody may join it.
        """
        while scope in self._claiming:
            decided = self._claiming[scope]
            if decided is None:
                decided = self._claiming[scope] = anyio.Event()
            await decided.wait()
        held = self._held.get(scope)
        if held is not None:
            check_same(held[0], fingerprint)
            if not self._joins and not held[1].over:
                words = "the first call under this idempotency_key is still under way; send it again in a moment"
                raise Conflict(words, retry_after_ms=RETRY_MS, task_id=held[1].call.id)
        return held

    @contextmanager
    def claiming(self, scope: str) -> Generator[None]:
        """A call is being claimed under a free key while the block lasts; at its end the key is held, or free again."""
        self.begin_claim(scope)
        try:
            yield
        finally:
            self.end_claim(scope)

    def begin_claim(self, scope: str) -> None:
        """A call is being claimed under a free key from now on."""
        self._claiming[scope] = None  # an event is for those who come meanwhile, and mostly nobody does

    def end_claim(self, scope: str) -> None:
        """The key is held, or free again; who came meanwhile goes on."""
        decided = self._claiming.pop(scope)
        if decided is not None:
            decided.set()

    def hold(self, scope: str, claim: Claim, record: Record) -> None:
        """A call runs under a key from now on."""
        self._held[scope] = (claim, record)
        self._scope_of_call[record.call.id] = scope

    def scope_held_by(self, record: Record) -> str | None:
        """Where the claim lies that a call holds; one from before a restart may have lost its key to a later one."""
        scope = self._scope_of_call.get(record.call.id)
        held = None if scope is None else self._held.get(scope)
        return scope if held is not None and held[1] is record else None

    def release(self, record: Record) -> None:
        """A call is over, and its key stands for nothing here any more."""
        scope = self.scope_held_by(record)
        self._scope_of_call.pop(record.call.id, None)
        if scope is not None:
            del self._held[scope]
