"""A real HTTP server that speaks a model's wire as a test scripts it, and remembers what it was asked."""

import json
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio.to_thread
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

Json = dict[str, Any]
Reply = Callable[["Asked"], Response]
"""What the server answers to one request."""


@dataclass
class Asked:
    """One request as it came over the wire."""

    path: str
    headers: Mapping[str, str]
    body: Json


class Gate:
    """Holds a reply up on the server's thread until the test opens it."""

    def __init__(self) -> None:
        self._reached = threading.Event()
        self._opened = threading.Event()

    @property
    def is_open(self) -> bool:
        return self._opened.is_set()

    def open(self) -> None:
        self._opened.set()

    async def wait(self) -> None:
        """For the server: say that it is here, and wait."""
        self._reached.set()
        await anyio.to_thread.run_sync(self._opened.wait, 10, abandon_on_cancel=True)

    async def reached(self) -> None:
        """For the test: wait until the server is here."""
        await anyio.to_thread.run_sync(self._reached.wait, 10, abandon_on_cancel=True)


@dataclass
class ModelServer:
    """Answers requests with `replies`, one after the other; the last one answers all that follow."""

    replies: list[Reply]
    asked: list[Asked] = field(default_factory=list[Asked])
    url: str = ""

    @property
    def body(self) -> Json:
        """The body of the last request."""
        return self.asked[-1].body

    async def answer(self, request: Request) -> Response:
        asked = Asked("/" + request.path_params["path"], request.headers, json.loads(await request.body()))
        self.asked.append(asked)
        return self.replies[min(len(self.asked), len(self.replies)) - 1](asked)


class ModelHost(uvicorn.Server):
    """A server on a free port of 127.0.0.1, on a thread of its own, with any number of model servers under paths."""

    def __init__(self) -> None:
        app = Starlette(routes=[Route("/{number:int}/{path:path}", self.answer, methods=["POST"])])
        super().__init__(uvicorn.Config(app, "127.0.0.1", 0, log_level="warning", timeout_graceful_shutdown=1))
        self.listening = threading.Event()
        self.models: list[ModelServer] = []

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    async def answer(self, request: Request) -> Response:
        number: int = request.path_params["number"]
        return await self.models[number].answer(request)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.servers[0].sockets[0].getsockname()[1]}"


@contextmanager
def hosting() -> Generator[ModelHost]:
    """A host that runs until the block ends."""
    host = ModelHost()
    thread = threading.Thread(target=host.run, name="model-host")
    thread.start()
    try:
        assert host.listening.wait(5), "the server did not start"
        yield host
    finally:
        host.should_exit = True
        thread.join(5)


_HOSTS: list[ModelHost] = []
"""The host of this run of the tests, while there is one."""


@contextmanager
def shared_host() -> Generator[None]:
    """A host for all the `serving(…)` inside the block."""
    with hosting() as host:
        _HOSTS.append(host)
        try:
            yield
        finally:
            _HOSTS.remove(host)


@contextmanager
def serving(*replies: Reply) -> Generator[ModelServer]:
    """A model's server with an address of its own, which answers as it is told."""
    host = _HOSTS[-1]
    model = ModelServer(list(replies), url=f"{host.url}/{len(host.models)}")
    host.models.append(model)
    yield model


def whole(body: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """Answer with JSON."""
    return lambda _: JSONResponse(body, status, dict(headers or {}))


def events(parts: Sequence[Json], *, named: bool = False, done: bool = False, chunk: int | None = None) -> Reply:
    """Answer with a stream of server-sent events.

    Args:
        parts: the data of the events.
        named: each event carries its `type` as its name, as Anthropic's and the Responses API's do.
        done: `[DONE]` follows, as at Chat Completions.
        chunk: the bytes in each write; `None` for one write per event.
    """
    lines = [(f"event: {part['type']}\n" if named else "") + f"data: {json.dumps(part)}\n\n" for part in parts]
    if done:
        lines.append("data: [DONE]\n\n")
    return stream_of(lines, chunk)


def stream_of(lines: Iterable[str], chunk: int | None = None) -> Reply:
    """Answer with these pieces of an event stream, as they are or cut into chunks that end anywhere."""
    written = list(lines)

    def reply(_: Asked) -> Response:
        return StreamingResponse(_pieces(written, chunk), media_type="text/event-stream")

    return reply


async def _pieces(lines: Iterable[str], chunk: int | None) -> AsyncGenerator[bytes]:
    if chunk is None:
        for line in lines:
            yield line.encode()
        return
    body = "".join(lines).encode()
    for start in range(0, len(body), chunk):
        yield body[start : start + chunk]
