"""Frames on their way to whoever writes them to the link; it does not know what they mean or whether they arrive."""

from collections.abc import Callable
from typing import Final

import anyio
import msgspec

from toolwire.wire.link import MAX_MESSAGE_BYTES, FromAgent

MAX_WAITING_BYTES: Final = 1024 * 1024
"""Above this, whoever says more waits until the link has taken some; answers never wait."""

BATCH_BYTES: Final = 512 * 1024
"""About how much goes into one WebSocket message; a larger frame goes alone."""

LARGEST_FRAME: Final = MAX_MESSAGE_BYTES - 1024
"""A larger frame would cost the link."""

encode_frame = msgspec.json.Encoder().encode


class Outgoing:
    """A buffer between the calls at work and one writer.

    It is closed while no link is attached: what is put then is dropped, because what must arrive is kept by `Replies`
    and put again after the next `Welcome`.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._waiting_bytes = 0
        self._open = False
        self._holds = False
        self._filled: anyio.Event | None = None
        self._room: anyio.Event | None = None

    @property
    def is_open(self) -> bool:
        """Whether a link is attached that takes frames."""
        return self._open

    @property
    def is_empty(self) -> bool:
        """Whether the link has taken everything."""
        return not self._parts

    def open(self) -> None:
        """A link is attached: start with an empty buffer."""
        self._clear()
        self._open = True

    def close(self) -> None:
        """The link is gone: drop what it did not take, and let go of whoever waits for room."""
        self._open = False
        self._clear()

    def put(self, frame: FromAgent) -> None:
        """Send `frame` with the next write."""
        self.put_encoded(encode_frame(frame))

    def put_encoded(self, part: bytes) -> None:
        """Send a frame that `encode_frame` has encoded."""
        if not self._open:
            return
        if self._filled is not None and not self._holds:
            self._filled.set()
        self._parts.append(part)
        self._waiting_bytes += len(part)

    def hold(self) -> None:
        """Let the writer sleep until `release`: what is put meanwhile goes with one write."""
        self._holds = True

    def release(self, send_now: Callable[[bytes], bool]) -> None:
        """Send what was put since `hold`: here, if the writer sleeps and `send_now` takes it, else by the writer."""
        self._holds = False
        writer = self._filled
        if writer is None or not self._parts:
            return
        if self._waiting_bytes <= BATCH_BYTES and send_now(_together(self._parts)):
            self._clear()
        else:
            writer.set()

    async def room(self) -> None:
        """Wait until the link has taken enough for more to be put; returns at once while none is attached."""
        while self._open and self._waiting_bytes > MAX_WAITING_BYTES:
            if self._room is None:
                self._room = anyio.Event()
            await self._room.wait()

    async def take(self) -> bytes:
        """Wait for frames and take as many as go into one WebSocket message."""
        while not self._parts:
            self._filled = anyio.Event()
            try:
                await self._filled.wait()
            finally:
                self._filled = None
        parts = self._parts
        if self._waiting_bytes <= BATCH_BYTES:
            taken, self._parts = parts, []
        else:
            size, count = len(parts[0]), 1
            while count < len(parts) and size + len(parts[count]) <= BATCH_BYTES:
                size += len(parts[count])
                count += 1
            taken, self._parts = parts[:count], parts[count:]
        self._waiting_bytes -= sum(map(len, taken))
        if self._waiting_bytes <= MAX_WAITING_BYTES:
            self._make_room()
        return _together(taken)

    def _clear(self) -> None:
        self._parts = []
        self._waiting_bytes = 0
        self._holds = False
        self._make_room()

    def _make_room(self) -> None:
        if self._room is not None:
            self._room.set()
            self._room = None


def _together(parts: list[bytes]) -> bytes:
    """One WebSocket message of these frames."""
    return parts[0] if len(parts) == 1 else b"[" + b",".join(parts) + b"]"
