"""What a client keeps for us between two requests, sealed so that it can neither read nor change it; it keeps nothing.

AES-256-GCM with a key that is derived from the server's secret, so replicas with one secret open each other's seals.
What a seal is bound to (who asks, where, for what, with which arguments) is authenticated and not sent.
Spec: MCP 2026-07-28 basic/mrtr#request-state; contract mcp.md 1.2, S37.
"""

import hmac
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from toolwire.core.errors import InvalidParam
from toolwire.core.jsontypes import JsonObject
from toolwire.core.ports import Clock

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

STATE_TTL_S = 600.0
"""How long a client may take to answer."""
MAX_STATE_BYTES = 64 * 1024
"""A larger state goes without its answers: a body that has to begin anew then asks anew, too."""
_NONCE_BYTES = 12
_PURPOSE = b"mcp-request-state-1"


class State(Struct, frozen=True, array_like=True):
    """What is sealed: until when it holds (Unix seconds), which call it is of, and what was answered so far."""

    expires_at: float
    call_id: str
    answers: dict[str, JsonObject]


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(State).decode


class Seal:
    """Seals and opens states with one secret."""

    def __init__(self, secret: bytes, clock: Clock) -> None:
        self._key = hmac.digest(secret, _PURPOSE, "sha256")
        self._clock = clock
        self._cipher: AESGCM | None = None

    def close(self, call_id: str, answers: dict[str, JsonObject], bound: Sequence[str]) -> str:
        """A state as text; it opens for the same `bound` only, within `STATE_TTL_S`."""
        nonce, expires_at = os.urandom(_NONCE_BYTES), self._clock.now() + STATE_TTL_S
        state = _encode(State(expires_at, call_id, answers))
        if len(state) > MAX_STATE_BYTES:
            state = _encode(State(expires_at, call_id, {}))
        return urlsafe_b64encode(nonce + self._aead().encrypt(nonce, state, _encode(bound))).rstrip(b"=").decode()

    def open(self, text: str, bound: Sequence[str]) -> State:
        """The state in a text.

        Raises:
            InvalidParam: it is not ours, not for this request, or too old; all in the same words.
        """
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 -- most servers never ask anything

        try:
            raw = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
            if len(raw) <= _NONCE_BYTES or urlsafe_b64encode(raw).rstrip(b"=").decode() != text:
                raise _invalid()
            opened = self._aead().decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], _encode(bound))
        except (ValueError, InvalidTag):
            raise _invalid() from None
        state = _decode(opened)
        if state.expires_at < self._clock.now():
            raise _invalid()
        return state

    def _aead(self) -> "AESGCM":
        if self._cipher is None:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 -- as above

            self._cipher = AESGCM(self._key)
        return self._cipher


def _invalid() -> InvalidParam:
    return InvalidParam("invalid or expired requestState", param="requestState")
