"""A remote MCP server as the gateway keeps it: what may be shown in the open, the rest sealed; it connects nothing."""

import shlex

import msgspec
from msgspec import Struct

from toolwire.surfaces.sealed_box import SealedBox

REMOTE_KIND = "remote"
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
        self._box = SealedBox(secret, _PURPOSE)

    def seal(self, place: RemotePlace, owner: str, agent_id: str) -> str:
        """A place as text that only this gateway opens, for this agent."""
        return self._box.seal(_encode(place), f"{owner}/{agent_id}")

    def open(self, record: RemoteRecord) -> RemotePlace | None:
        """The place; `None` where it was sealed with another secret of the gateway."""
        raw = self._box.open(record.sealed, f"{record.owner}/{record.agent_id}")
        return None if raw is None else _decode(raw)
