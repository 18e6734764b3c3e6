"""An HTTP client for ASGI apps in this process that streams both ways; it opens no socket and follows no redirect.

httpx2's transport hands an answer over when the app has finished, so it can see no stream, no silence and nobody who
leaves. This one plays the server's part of ASGI strictly: an app that breaks the protocol fails the test.
"""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import anyio
from anyio.abc import TaskGroup

App: TypeAlias = Any
Headers: TypeAlias = Mapping[str, str | bytes | list[str]]

PATIENCE_S = 5.0
GONE = OSError("the client is gone")


class Answer:
    """One answer on its way. `status` and `headers` are there from the start; a header that stands twice fails.

    `ids` and `retry_ms` are what a stream has said of itself, as far as it was read.
    """

    def __init__(self, patience_s: float, gone_raises: bool) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.ids: list[str] = []
        self.retry_ms = 0
        self.started = anyio.Event()
        self.ended = anyio.Event()
        self.scope = anyio.CancelScope()
        self.patience_s = patience_s
        self._gone_raises = gone_raises
        self._left = anyio.Event()
        self._reading = anyio.Event()
        self._reading.set()
        self._buffer = b""
        self._news = anyio.Event()
        self._complete = False

    async def body(self) -> bytes:
        """The rest of the body."""
        with anyio.fail_after(self.patience_s):
            while not self.ended.is_set():
                await self._news.wait()
        return self._buffer

    async def json(self) -> Any:
        """The body, which must be JSON and say so."""
        assert self.headers["content-type"] == "application/json"
        return json.loads(await self.body())

    async def frame(self) -> Any:
        """The next frame of a stream: a message as JSON, a comment as its text, or `None` after the last.

        Frames without data are passed over; what they say is in `ids` and `retry_ms`.
        """
        while (raw := await self.raw_frame()) is not None:
            if raw.startswith(":"):
                return raw
            fields = dict(line.split(":", 1) for line in raw.split("\n"))
            assert set(fields) <= {"event", "id", "retry", "data"}
            self.ids += [fields["id"].strip()] if "id" in fields else []
            self.retry_ms = int(fields.get("retry", self.retry_ms))
            if fields.get("data"):
                assert raw.startswith("event: message\n")
                return json.loads(fields["data"])
        return None

    async def raw_frame(self) -> str | None:
        """The next frame as it came; `None` after the last."""
        assert self.headers["content-type"] == "text/event-stream"
        with anyio.fail_after(self.patience_s):
            while b"\n\n" not in self._buffer:
                if self._complete or self.ended.is_set():
                    assert self._buffer == b"", "the stream ended within a frame"
                    return None
                await self._news.wait()
        frame, self._buffer = self._buffer.split(b"\n\n", 1)
        return frame.decode()

    async def frames(self) -> list[Any]:
        """All frames that are left."""
        found: list[Any] = []
        while (frame := await self.frame()) is not None:
            found.append(frame)
        return found

    async def message(self) -> Any:
        """The one JSON-RPC message of the answer, whether it came as JSON or as a stream."""
        if self.headers["content-type"] == "application/json":
            return await self.json()
        [message] = await self.frames()
        return message

    def leave(self) -> None:
        """The client goes away."""
        self._left.set()
        self._reading.set()

    def cut(self) -> None:
        """The server ends the task of the request, as uvicorn does when its grace is over."""
        self.scope.cancel()

    def stop_reading(self) -> None:
        """The client stays and reads no more, so that the server cannot send."""
        self._reading = anyio.Event()

    def go_on_reading(self) -> None:
        """The client reads again."""
        self._reading.set()

    async def send(self, message: Any) -> None:
        """ASGI's `send`."""
        await self._reading.wait()
        if self._left.is_set():
            if self._gone_raises:
                raise GONE
            return
        if message["type"] == "http.response.start":
            assert not self.started.is_set(), "a second answer to one request"
            self.status = message["status"]
            for name, value in message["headers"]:
                assert name == name.lower()
                assert not set(value) & set(b"\r\n\0"), value
                assert name.decode() not in self.headers, name
                self.headers[name.decode()] = value.decode("latin-1")
            self.started.set()
            return
        assert message["type"] == "http.response.body"
        assert self.started.is_set(), "a body before its head"
        assert not self._complete, "more after the end"
        self._buffer += message.get("body", b"")
        self._complete = not message.get("more_body", False)
        self._tell()

    async def left(self) -> None:
        """Wait until the client is gone or has all of the answer, which ASGI treats alike."""
        async with anyio.create_task_group() as tasks:
            for event in (self._left, self.ended):
                tasks.start_soon(_wait_then_cancel, event, tasks.cancel_scope)

    def close(self) -> None:
        """Nothing more comes."""
        self.ended.set()
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()


async def _wait_then_cancel(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


class Client:
    """Sends requests to an app; each runs in a task of its own."""

    def __init__(self, app: App, tasks: TaskGroup, patience_s: float, gone_raises: bool) -> None:
        self._app = app
        self._tasks = tasks
        self.patience_s = patience_s
        self._gone_raises = gone_raises

    def start(self, method: str, path: str, headers: Headers, *pieces: bytes, whole: bool = True) -> Answer:
        """Begin a request whose body comes in these pieces, and is the `whole` of it; the answer comes later."""
        answer = Answer(self.patience_s, self._gone_raises)
        sent = [(piece, whole and number == len(pieces)) for number, piece in enumerate(pieces, 1)] or [(b"", whole)]
        self._tasks.start_soon(self._run, _scope(method, path, headers), answer, sent)
        return answer

    async def ask(self, method: str, path: str, headers: Headers, *pieces: bytes) -> Answer:
        """Send a request and wait until its answer begins."""
        answer = self.start(method, path, headers, *pieces)
        with anyio.fail_after(self.patience_s):
            await answer.started.wait()
        return answer

    async def _run(self, scope: Any, answer: Answer, pieces: list[tuple[bytes, bool]]) -> None:
        async def receive() -> Any:
            if pieces:
                piece, last = pieces.pop(0)
                return {"type": "http.request", "body": piece, "more_body": not last}
            await answer.left()
            return {"type": "http.disconnect"}

        try:
            with answer.scope:
                await self._app(scope, receive, answer.send)
        finally:
            answer.close()


def _scope(method: str, path: str, headers: Headers) -> Any:
    raw = [
        (name.lower().encode(), value if isinstance(value, bytes) else value.encode("latin-1"))
        for name, given in {"host": "localhost:8095", **headers}.items()
        for value in (given if isinstance(given, list) else [given])
    ]
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [pair for pair in raw if pair[1] != b""],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8095),
    }


@asynccontextmanager
async def connect(app: App, patience_s: float = PATIENCE_S, gone_raises: bool = False) -> AsyncGenerator[Client]:
    """A client of `app`; what is still under way at the end of the block is cut off.

    Args:
        app: the ASGI app.
        patience_s: how long any step may take.
        gone_raises: whether sending to a client that is gone raises, as ASGI 2.4 has it, or is swallowed, as uvicorn
            does it.
    """
    async with anyio.create_task_group() as tasks:
        yield Client(app, tasks, patience_s, gone_raises)
        tasks.cancel_scope.cancel()
