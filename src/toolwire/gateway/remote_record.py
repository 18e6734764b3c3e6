"""A remote MCP server as the gateway keeps it: what may be shown in the open, the rest sealed; it connects nothing.

AES-256-GCM with a key derived from the gateway's secret, bound to the owner and the agent: whoever reads the database
alone learns no credential, and a row that is moved to another agent does not open.
"""

import hmac
import os
import shlex
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

REMOTE_KIND = "remote"
_NONCE_BYTES = 12
_PURPOSE = b"remote-servers-1"


class RemotePlace(Struct, frozen=True, omit_defaults=True):
    """Where a remote server is: a `url` with `headers`, or a `command` with `env`. All of it is taken for secret."""

    url: str = ""
    headers: dict[str, str] = {}
    command: tuple[str, ...] = ()
    env: dict[str, str] = {}

    @property
    def shown(self) -> str:
        """What may be shown of it to its owner: the URL without credentials and query, or the program."""
        if self.command:
            return shlex.join(self.command[:1])
        from toolwire.providers.remote_http import shown_url  # noqa: PLC0415 -- most gateways have no remote server

        return shown_url(self.url)

    def __repr__(self) -> str:
        return f"RemotePlace({self.shown!r})"


class RemoteRecord(Struct, frozen=True, omit_defaults=True):
    """A remote server of an owner: the agent that it is, what may be shown of its place, and the place, sealed.

    `created_at` is Unix seconds, UTC.
    """

    agent_id: str
    owner: str
    shown: str
    sealed: str
    created_at: float
    is_command: bool = False


encode_record = msgspec.msgpack.Encoder().encode
decode_record = msgspec.msgpack.Decoder(RemoteRecord).decode
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(RemotePlace).decode


class PlaceBox:
    """Seals and opens places with one secret of the gateway."""

    def __init__(self, secret: bytes) -> None:
        self._key = hmac.digest(secret, _PURPOSE, "sha256")
        self._cipher: AESGCM | None = None

    def seal(self, place: RemotePlace, owner: str, agent_id: str) -> str:
        """A place as text that only this gateway opens, for this agent."""
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._aead().encrypt(nonce, _encode(place), f"{owner}/{agent_id}".encode())
        return b64encode(nonce + sealed).decode()

    def open(self, record: RemoteRecord) -> RemotePlace | None:
        """The place; `None` where it was sealed with another secret of the gateway."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 -- most gateways have no remote server

        raw = b64decode(record.sealed)
        bound = f"{record.owner}/{record.agent_id}".encode()
        try:
            return _decode(self._aead().decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], bound))
        except InvalidTag:
            return None

    def _aead(self) -> "AESGCM":
        if self._cipher is None:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 -- as above

            self._cipher = AESGCM(self._key)
        return self._cipher
