"""The keys under which calls run here, or are about to; it neither claims them in the store nor runs anything."""

from collections.abc import Generator
from contextlib import contextmanager

import anyio

from toolwire.engine.claims import Claim, check_same
from toolwire.engine.record import Record


class HeldKeys:
    """Where a key's claim lies is its *scope* (`claims.scope_of`); each stands for one call at a time."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[Claim, Record]] = {}
        self._scopes: dict[str, str] = {}
        self._claiming: dict[str, anyio.Event] = {}

    def __bool__(self) -> bool:
        return bool(self._held or self._claiming)

    def __contains__(self, scope: str) -> bool:
        return scope in self._held or scope in self._claiming

    async def join(self, scope: str, fingerprint: str) -> tuple[Claim, Record] | None:
        """The call that runs under a key, if one does; one that is about to is waited for.

        Raises:
            IdempotencyKeyReused: it is another call.
        """
        while (underway := self._claiming.get(scope)) is not None:
            await underway.wait()
        held = self._held.get(scope)
        if held is not None:
            check_same(held[0], fingerprint)
        return held

    @contextmanager
    def claiming(self, scope: str) -> Generator[None]:
        """A call is about to run under a key while the block lasts."""
        underway = self._claiming[scope] = anyio.Event()
        try:
            yield
        finally:
            del self._claiming[scope]
            underway.set()

    def hold(self, scope: str, claim: Claim, record: Record) -> None:
        """A call runs under a key from now on."""
        self._held[scope] = (claim, record)
        self._scopes[record.call.id] = scope

    def scope_held_by(self, record: Record) -> str | None:
        """Where the claim lies that a call holds; one from before a restart may have lost its key to a later one."""
        scope = self._scopes.get(record.call.id)
        held = None if scope is None else self._held.get(scope)
        return scope if held is not None and held[1] is record else None

    def release(self, record: Record) -> None:
        """A call is over, and its key stands for nothing here any more."""
        scope = self.scope_held_by(record)
        self._scopes.pop(record.call.id, None)
        if scope is not None:
            del self._held[scope]
