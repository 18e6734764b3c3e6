"""Reads server-sent events as they come, and knows where to go on; it opens no connection.

Spec: HTML Living Standard, section 9.2.6.
"""

from collections.abc import Iterator
from typing import Final, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from toolwire.client.asks import ApiError, Ask, Watch

T = TypeVar("T")

MAX_EVENT_BYTES: Final = 64 * 1024 * 1024
"""An event that is larger is none of a host's."""


class Reading(Generic[T]):
    """One reader of a stream, over as many connections as it takes.

    Args:
        watch: what is read.
    """

    def __init__(self, watch: Watch[T]) -> None:
        self._watch = watch
        self._decoder = msgspec.json.Decoder(watch.event)
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._last_id: str | None = None
        self._next_id: str | None = None
        self.is_over = False
        self.has_read = False
        """Whether an event has come since the last `again`."""

    @property
    def resumable(self) -> bool:
        """Whether the stream may be asked for once more."""
        return self._watch.resumable

    def again(self) -> Ask[object]:
        """The request for what comes after the last event that has come."""
        self._rest.clear()
        self._data.clear()
        self.has_read = False
        ask = self._watch.ask
        headers = {"accept": "text/event-stream", "cache-control": "no-store", **ask.headers}
        if self._last_id is not None:
            headers["last-event-id"] = self._last_id
        return replace(ask, headers=headers)

    def feed(self, piece: bytes) -> Iterator[T]:
        """The events that are whole with this piece.

        Raises:
            ApiError: it is no event of a host's.
        """
        self._rest += piece
        if len(self._rest) > MAX_EVENT_BYTES:
            raise ApiError("an event is larger than any of a Toolwire host", "no_toolwire", 200)
        *lines, rest = self._rest.split(b"\n")
        self._rest = bytearray(rest)
        for line in lines:
            if (found := self._line(bytes(line.rstrip(b"\r")))) is not None:
                yield self._event(found)

    def _line(self, line: bytes) -> bytes | None:
        """The data of the event that a line ends, if it ends one."""
        if line:
            name, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if name == b"data":
                self._data.append(value)
            elif name == b"id":
                self._next_id = value.decode("utf-8", "replace")
            return None
        data, self._data = b"\n".join(self._data), []
        self._last_id = self._next_id
        return data or None

    def _event(self, data: bytes) -> T:
        try:
            event: T = self._decoder.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ApiError(f"an event is not what a Toolwire host sends: {error}", "no_toolwire", 200) from None
        self.has_read = True
        self.is_over = isinstance(event, self._watch.last)
        return event
