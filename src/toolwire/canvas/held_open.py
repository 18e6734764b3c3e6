"""What a key has opened and holds open ends when the key is revoked; it knows neither keys nor what they open."""

from collections.abc import Awaitable

import anyio

from toolwire.canvas.identity import Directory


class HeldOpen:
    """All that is held open, by the id of the key.

    Args:
        directory: says which keys are revoked.
    """

    def __init__(self, directory: Directory) -> None:
        self._scopes: dict[str, set[anyio.CancelScope]] = {}
        directory.on_revoked(self._on_revoked)

    async def is_revoked_during(self, key_id: str, serving: Awaitable[None]) -> bool:
        """Serve whoever has come in with a key, to the end or until the key is revoked; says whether that is why.

        Args:
            key_id: see `identity.Visitor`.
            serving: serves; it is cancelled when the key is revoked.
        """
        with anyio.CancelScope() as scope:
            self._scopes.setdefault(key_id, set()).add(scope)
            try:
                await serving
            finally:
                self._scopes[key_id].discard(scope)
                if not self._scopes[key_id]:
                    del self._scopes[key_id]
        return scope.cancelled_caught

    def _on_revoked(self, key_id: str) -> None:
        for scope in tuple(self._scopes.get(key_id, ())):
            scope.cancel()
