"""An event stream lasts as long as its reader stays, and is never silent for long (mcp.md S14, S17)."""

from collections.abc import MutableMapping
from typing import Any

import anyio
import pytest

from toolwire.surfaces.event_stream import EventStream
from toolwire.wire.sse import KEEPALIVE, event

SCOPE: dict[str, Any] = {"type": "http", "method": "GET", "path": "/", "headers": []}


class Reader:
    """The client's side of one ASGI exchange."""

    def __init__(self) -> None:
        self.gone = anyio.Event()
        self.sent: list[MutableMapping[str, Any]] = []
        self.broken = False

    async def receive(self) -> MutableMapping[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if self.broken and message["type"] == "http.response.body":
            raise OSError("the reader is gone")
        self.sent.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(message["body"] for message in self.sent[1:])


@pytest.mark.virtual_time
async def test_silence_is_filled_with_comments_and_the_end_is_the_streams_own() -> None:
    reader, frames = Reader(), iter([event(b"1"), event(b"2")])

    async def next_frame() -> bytes | None:
        await anyio.sleep(31)
        return next(frames, None)

    await EventStream(next_frame, keepalive_s=100)(SCOPE, reader.receive, reader.send)
    assert reader.body == KEEPALIVE + event(b"1") + event(b"2")
    assert dict(reader.sent[0]["headers"])[b"content-type"].startswith(b"text/event-stream")
    assert reader.sent[-1] == {"type": "http.response.body", "body": b""}


@pytest.mark.virtual_time
async def test_a_reader_that_leaves_ends_the_stream() -> None:
    reader = Reader()

    async def never() -> bytes | None:
        await anyio.sleep_forever()
        return None

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(EventStream(never, keepalive_s=15), SCOPE, reader.receive, reader.send)
        await anyio.sleep(50)
        assert reader.body == KEEPALIVE * 4
        reader.gone.set()


@pytest.mark.both_backends
async def test_a_broken_connection_is_an_end_and_no_error() -> None:
    reader = Reader()
    reader.broken = True

    async def never() -> bytes | None:
        await anyio.sleep_forever()
        return None

    with anyio.fail_after(5):
        await EventStream(never)(SCOPE, reader.receive, reader.send)
