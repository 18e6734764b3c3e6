"""The secrets with which the host's own child processes come in; it starts none of them."""

import secrets
from typing import Final

TOKEN_PREFIX: Final = b"crd_"


class CardTokens:
    """A secret for each start of a package's process. It opens one connection."""

    def __init__(self) -> None:
        self._packages: dict[bytes, str] = {}

    def mint(self, package_id: str) -> str:
        """A new secret; older ones of the package open nothing any more."""
        self.revoke(package_id)
        token = TOKEN_PREFIX + secrets.token_hex(32).encode()
        self._packages[token] = package_id
        return token.decode()

    def revoke(self, package_id: str) -> None:
        """The package's secret opens nothing any more."""
        self._packages = {token: known for token, known in self._packages.items() if known != package_id}

    def take(self, token: bytes) -> str | None:
        """The package that a secret is for. It opens nothing any more: what a card starts cannot pass for the card."""
        return self._packages.pop(token, None)
