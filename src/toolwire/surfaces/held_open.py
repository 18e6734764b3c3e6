"""What lasts ends with the credential that has opened it: streams, sockets, requests that wait; it checks none.

There is one registry for each host. Whoever serves something that lasts holds it here under its credential's id, which
is a key's, a grant's or that of a browser's session, and whoever revokes one of those says so here.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Final

import anyio

from toolwire.core.errors import Unauthorized

REMEMBERED: Final = 10_000
"""Credentials that have ended and are remembered, for what is just being opened with one of them."""

End = Callable[[], None]
"""Ends something, at once or soon; it must not block or raise."""


class HeldOpen:
    """All that is held open."""

    def __init__(self) -> None:
        self._ends: dict[str, dict[object, End]] = {}
        self._ended: OrderedDict[str, None] = OrderedDict()

    def of(self, credential_id: str) -> "Hold":
        """Where whatever is opened with a credential is held; "" for what no credential has opened."""
        return Hold(self, credential_id)

    def end(self, credential_id: str) -> None:
        """A credential opens nothing any more: what it holds open ends."""
        self._ended[credential_id] = None
        if len(self._ended) > REMEMBERED:
            self._ended.popitem(last=False)
        for end in tuple(self._ends.get(credential_id, {}).values()):
            end()

    def hold(self, credential_id: str, end: End) -> Callable[[], None]:
        """Call `end` when the credential ends, or now if it has; what is returned says that it is over by itself."""
        if not credential_id:
            return _nothing
        held, key = self._ends.setdefault(credential_id, {}), object()
        held[key] = end

        def let_go() -> None:
            held.pop(key, None)
            if not held and self._ends.get(credential_id) is held:
                del self._ends[credential_id]

        if credential_id in self._ended:
            end()
        return let_go


class Hold:
    """What one credential holds open."""

    __slots__ = ("_credential_id", "_held")

    def __init__(self, held: HeldOpen, credential_id: str) -> None:
        self._held = held
        self._credential_id = credential_id

    @contextmanager
    def opened(self, end: End) -> Generator[None]:
        """Something is open until the block ends; `end` is called when its credential ends before that."""
        let_go = self._held.hold(self._credential_id, end)
        try:
            yield
        finally:
            let_go()

    async def is_ended_during(self, serving: Awaitable[None]) -> bool:
        """Serve to the end, or until the credential ends; says whether that is why."""
        with anyio.CancelScope() as scope, self.opened(scope.cancel):
            await serving
        return scope.cancelled_caught


def revoked() -> Unauthorized:
    """What those are told who wait for an answer that they may not have any more."""
    return Unauthorized("the key or token was revoked meanwhile; make another key with `toolwire key create`")


def _nothing() -> None:
    """Nothing is held."""
