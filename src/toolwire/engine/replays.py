"""Finds the call that a key stands for, running here or in the store; it claims nothing and runs nothing."""

from collections.abc import Awaitable, Callable

from toolwire.core.ports import Clock, Store
from toolwire.engine.claims import Claim, Submission, check_same, decode_claim
from toolwire.engine.ending import as_repeated
from toolwire.engine.held_keys import HeldKeys
from toolwire.engine.record import CallRecord, Record

Load = Callable[[str, str], Awaitable[CallRecord | None]]
"""The record of a call, by owner and id, from the store."""


class Replays:
    """What is known of keys.

    Args:
        keys: those under which calls run here.
        store: has the claims of all.
        clock: wall time.
        load: reads a record.
    """

    def __init__(self, keys: HeldKeys, store: Store, clock: Clock, load: Load) -> None:
        self._keys = keys
        self._store = store
        self._clock = clock
        self._load = load

    async def join(self, scope: str, fingerprint: str) -> Submission | None:
        """The call that runs here under a key, if one does."""
        held = await self._keys.join(scope, fingerprint)
        return None if held is None else Submission(held[1], held[0], replayed=True)

    async def look(self, scope: str, fingerprint: str) -> Submission | int:
        """The call that a key stands for; if it stands for none any more, the version of its claim, 0 without one."""
        while True:
            joined = await self.join(scope, fingerprint)
            if joined is not None:
                return joined
            stored = await self._store.get("claim", "", scope)
            if stored is not None and scope not in self._keys:
                found = await self._replay(decode_claim(stored.value), fingerprint)
                if found is not None:
                    return found
            if scope not in self._keys:  # else somebody here was faster while we looked
                return 0 if stored is None else stored.version

    async def _replay(self, claim: Claim, fingerprint: str) -> Submission | None:
        """The record of an ended call under a key, or `None` when the key is free again."""
        if claim.expires_at <= self._clock.now():
            return None
        check_same(claim, fingerprint)
        stored = await self._load(claim.owner, claim.call_id)
        if stored is None:
            return None
        record = Record(stored.call, self._clock, stored.created_at)
        record.finish(as_repeated(stored.result))
        record.started_at, record.completed_at = stored.started_at, stored.completed_at
        return Submission(record, claim, replayed=True)
