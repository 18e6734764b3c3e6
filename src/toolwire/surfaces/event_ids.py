"""The ids of events on streams that can be resumed: sealed, so that nobody can make one; it keeps nothing.

An id says which stream it belongs to and how far that had come, so that any replica, and this one after a restart, can
go on from the record. It holds for the principal, agent and session that it was given to.
Spec: MCP 2025-11-25 basic/transports#resumability-and-redelivery.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Literal

import msgspec
from msgspec import Struct

from toolwire.core.call import Caller
from toolwire.core.errors import InvalidRequest
from toolwire.surfaces.sessions import Session

MAC_BYTES = 16

StreamKind = Literal["call", "changes"]


class Mark(Struct, frozen=True, array_like=True):
    """A place on a stream.

    `stream` is the id of the call that the stream tells of, or of the log of changes. `seq` is the number of the last
    event told, `asked` how many requests of ours went before. `over` says that all has been said. `request_id` is the
    JSON text of the id of the request that is owed an answer, `token` that of its progress token.
    """

    kind: StreamKind
    stream: str
    seq: int = 0
    asked: int = 0
    over: bool = False
    request_id: str = ""
    token: str | None = None


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Mark).decode


class EventIds:
    """Seals marks. `secret` is for this alone; replicas share it, and this process before and after a restart does."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def mint(self, mark: Mark, holder: bytes) -> str:
        """The id of an event at `mark`, for `holder` alone."""
        payload = _encode(mark)
        return _spell(payload + self._mac(payload, holder))

    def read(self, text: str, holder: bytes) -> Mark:
        """The mark that `holder` was given.

        Raises:
            InvalidRequest: it was made by somebody else or given to somebody else: all in the same words.
        """
        try:
            spelled = text.encode("ascii")
            raw = urlsafe_b64decode(spelled + b"=" * (-len(spelled) % 4))
            payload, mac = raw[:-MAC_BYTES], raw[-MAC_BYTES:]
            if _spell(raw) == text and hmac.compare_digest(mac, self._mac(payload, holder)):
                return _decode(payload)
        except (ValueError, msgspec.DecodeError):
            pass
        raise InvalidRequest(
            "this Last-Event-ID belongs to no stream of yours here; send the request again, or open a stream without it"
        )

    def _mac(self, payload: bytes, holder: bytes) -> bytes:
        return hmac.digest(self._secret, holder + payload, "sha256")[:MAC_BYTES]


def _spell(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def holder_of(caller: Caller, agent_id: str, session: Session | None) -> bytes:
    """To whom an id is given; a session's streams belong to it alone."""
    return _encode([caller.principal, agent_id, None if session is None else session.id])
