"""Seals what webhooks are signed and authorized with, for the store (gateway.md D27); it signs nothing.

AES-256-GCM with a key derived from the gateway's secret, bound to the owner: whoever reads the database alone learns no
secret, and a row moved to another owner does not open.
"""

import hmac
import os
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE_BYTES = 12
_PURPOSE = b"webhook-secrets-1"
ROTATION_S = 24 * 3600.0
"""For how long deliveries are signed by the secret before the last one, too."""


class Secrets(Struct, frozen=True, array_like=True, omit_defaults=True):
    """What a webhook is signed and authorized with.

    `previous` is the secret before this one, which is live until `previous_until` (Unix seconds).
    """

    secret: str = ""
    token: str = ""
    previous: str = ""
    previous_until: float = 0.0

    def live(self, now: float) -> list[str]:
        """The secrets to sign with, the newest first."""
        old = [self.previous] if self.previous and now < self.previous_until else []
        return [self.secret, *old] if self.secret else old

    def changed(self, secret: str | None, token: str | None, now: float) -> "Secrets":
        """With another secret or token; `None` and, for the secret, "" leave what is there (gateway.md 34)."""
        kept = self if token is None else msgspec.structs.replace(self, token=token)
        if not secret or secret == self.secret:
            return kept
        return msgspec.structs.replace(
            kept, secret=secret, previous=self.secret, previous_until=now + ROTATION_S if self.secret else 0.0
        )


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Secrets).decode


class SecretBox:
    """Seals and opens with one secret of the gateway."""

    def __init__(self, secret: bytes) -> None:
        self._key = hmac.digest(secret, _PURPOSE, "sha256")
        self._cipher: AESGCM | None = None

    def seal(self, secrets: Secrets, owner: str) -> str:
        """Secrets as text that only this gateway opens, for this owner."""
        nonce = os.urandom(_NONCE_BYTES)
        return b64encode(nonce + self._aead().encrypt(nonce, _encode(secrets), owner.encode())).decode()

    def open(self, sealed: str, owner: str) -> Secrets | None:
        """The secrets; `None` where they were sealed with another secret of the gateway."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 -- most gateways tell nobody

        raw = b64decode(sealed)
        try:
            return _decode(self._aead().decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], owner.encode()))
        except InvalidTag:
            return None

    def _aead(self) -> "AESGCM":
        if self._cipher is None:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 -- as above

            self._cipher = AESGCM(self._key)
        return self._cipher
