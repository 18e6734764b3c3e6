"""Seals what a host must keep and nobody else may read; it keeps nothing itself.

AES-256-GCM with a key derived from the host's secret for one purpose, bound to whose it is: whoever reads the
database alone learns nothing, and what is moved to another's place does not open.
"""

import hmac
import os
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE_BYTES: Final = 12


class SealedBox:
    """Seals and opens bytes.

    Args:
        secret: the host's.
        purpose: what is sealed; nothing of one purpose opens for another.
    """

    def __init__(self, secret: bytes, purpose: bytes) -> None:
        self._key = hmac.digest(secret, purpose, "sha256")
        self._cipher: AESGCM | None = None

    def seal(self, raw: bytes, whose: str) -> str:
        """Text that only this host opens, for the same `whose`."""
        nonce = os.urandom(_NONCE_BYTES)
        return b64encode(nonce + self._aead().encrypt(nonce, raw, whose.encode())).decode()

    def open(self, sealed: str, whose: str) -> bytes | None:
        """What was sealed; `None` where that was done with another secret, or for somebody else."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 -- most hosts seal nothing

        raw = b64decode(sealed)
        try:
            return self._aead().decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], whose.encode())
        except InvalidTag:
            return None

    def _aead(self) -> "AESGCM":
        if self._cipher is None:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 -- as above

            self._cipher = AESGCM(self._key)
        return self._cipher
