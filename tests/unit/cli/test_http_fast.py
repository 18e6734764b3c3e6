"""Requests that go the short way are answered byte for byte as on the long one, and disturb nobody's order or end."""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

import anyio
import pytest
import uvicorn
from anyio.abc import SocketAttribute, SocketStream
from msgspec import Struct

from toolwire.cli.http_connection import HttpConnection, Patience
from toolwire.cli.http_fast import MAX_HELD_BYTES, FastConnection
from toolwire.cli.listening import bind, serving, url_of
from toolwire.compose import open_tool_server
from toolwire.sdk import ToolContext, tool
from toolwire.surfaces.exchange import SERVE, WHOLE, Serve, Whole

Protocol: TypeAlias = type[HttpConnection]

HEAD = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
MODERN = HEAD + (
    "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n"
    "Accept: application/json, text/event-stream\r\n"
)
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
remembered: ContextVar[str] = ContextVar("remembered", default="nothing")


def request(body: bytes, head: str = HEAD) -> bytes:
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def call(text: Any, id_: int = 1, **more: Any) -> bytes:
    params = {"name": "echo", "arguments": {"text": text}, "_meta": {**META, **more}}
    return json.dumps({"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}).encode()


class _Plain(uvicorn.Server):
    """A uvicorn with the connections of its own, or others; it leaves signals alone."""

    def __init__(self, app: Any, protocol: Protocol, keep_alive_s: int = 5) -> None:
        config = uvicorn.Config(
            app,
            http=protocol,
            lifespan="off",
            interface="asgi3",
            access_log=False,
            log_config=None,
            server_header=False,
            timeout_keep_alive=keep_alive_s,
        )
        super().__init__(config)
        self.listening = anyio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.listening.set()


class Talk:
    """One connection to a server; an answer ends where its head says."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._left = b""

    async def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            await self._stream.send(piece)
            await anyio.lowlevel.checkpoint()

    async def answer(self) -> bytes:
        head = await self.until(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        if length is not None:
            while len(self._left) < int(length[1]):
                self._left += await self._stream.receive()
            body, self._left = self._left[: int(length[1])], self._left[int(length[1]) :]
            return head + body
        return head + (await self.until(b"0\r\n\r\n") if b"chunked" in head else b"")

    async def ask(self, *pieces: bytes) -> bytes:
        await self.send(*pieces)
        return await self.answer()

    @property
    def socket(self) -> Any:
        return self._stream.extra(SocketAttribute.raw_socket)

    async def leave(self) -> None:
        await self._stream.aclose()

    async def rest(self) -> bytes:
        said = self._left
        with contextlib.suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            while True:
                said += await self._stream.receive()
        return said

    async def until(self, end: bytes) -> bytes:
        while end not in self._left:
            self._left += await self._stream.receive()
        found, _, self._left = self._left.partition(end)
        return found + end


@asynccontextmanager
async def talking(app: Any, protocol: Protocol = FastConnection, keep_alive_s: int = 5) -> AsyncGenerator[Talk]:
    server = _Plain(app, protocol, keep_alive_s)
    with anyio.fail_after(10), bind("127.0.0.1", 0) as bound:
        port = int(url_of(bound).rpartition(":")[2])
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [bound])
            await server.listening.wait()
            async with await anyio.connect_tcp("127.0.0.1", port) as stream:
                yield Talk(stream)
            server.should_exit = True


async def answers(protocol: Protocol, app: Any, requests: Sequence[bytes]) -> list[bytes]:
    """What each of `requests` is answered, one after the other on one connection; ids and moments taken out."""
    async with talking(app, protocol) as talk:
        said = [await talk.ask(each) for each in requests]
    ours = [re.sub(rb"date: [^\r]*\r\n", b"", answer) for answer in said]
    return [re.sub(rb"(req_|call_|mcp-session-id: )[\w-]+", rb"\1", answer) for answer in ours]


@tool
async def echo(ctx: ToolContext, text: str) -> str:
    """Return the text."""
    if text == "slowly":
        ctx.progress("half")
        await anyio.lowlevel.checkpoint()
    return text


OLD = HEAD + "Accept: application/json\r\nMCP-Protocol-Version: 2025-11-25\r\n"
SSE = HEAD + "Accept: text/event-stream\r\n"
INITIALIZE = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}'


@pytest.mark.parametrize(
    "asked",
    [
        [request(call("hi", n), MODERN) for n in (1, 22, 333)],
        [request(call("hi"), MODERN), request(call("ünicode" * 400), MODERN), request(call(3), MODERN)],
        [request(call("slowly", progressToken="t"), MODERN)] * 3,
        [request(call("hi"), MODERN.replace("echo", "other"))] * 2,
        [request(call("hi"), MODERN), request(b"{", MODERN), request(b"[]", MODERN), request(b"", MODERN)],
        [request(call("hi"), MODERN)]
        + [request(b'{"jsonrpc":"2.0","method":"notifications/initialized"}', MODERN)] * 2,
        [request(b'{"jsonrpc":"2.0","id":"a","method":"tools/list"}', OLD)] * 2,
        [request(b'{"jsonrpc":"2.0","id":"a","method":"nothing"}', OLD)] * 2,
        [request(INITIALIZE, OLD)] * 2,
        [request(b'{"jsonrpc":"2.0","id":1,"method":"ping"}', SSE)] * 2,
        [request(INITIALIZE, HEAD.replace("localhost", "evil.example"))] * 2,
        [request(INITIALIZE, HEAD.replace("json", "xml"))] * 2,
        [request(INITIALIZE, HEAD + "Accept: text/html\r\n")] * 2,
        [request(INITIALIZE, HEAD.replace("/mcp", "/other"))] * 2,
        [request(INITIALIZE, HEAD + "Connection: keep-alive\r\n")] * 2,
        [request(b'"' + b"x" * (1024 * 1024) + b'"', OLD)] * 2,
        [request(INITIALIZE, OLD), b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n", request(INITIALIZE, OLD)],
        [HEAD.encode() + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", request(INITIALIZE, HEAD)] * 2,
    ],
)
async def test_the_same_conversation_has_the_same_answers_either_way(asked: list[bytes]):
    async with open_tool_server([echo], "bench", "1.0") as server:
        assert await answers(FastConnection, server.app, asked) == await answers(HttpConnection, server.app, asked)


class Leaving(Struct):
    """An app that leaves `serve` to serve the next requests; it answers with its name."""

    serve: Serve

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if WHOLE in scope.get("extensions", {}):
            scope["extensions"][WHOLE].memo[SERVE] = self.serve
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"3")]})
        await send({"type": "http.response.body", "body": b"app"})


def served_at_once(whole: Whole) -> None:
    whole.answer(200, b"at once")


def served_later(whole: Whole) -> Any:
    async def rest() -> None:
        await anyio.lowlevel.checkpoint()
        whole.answer(200, b"later")

    return rest()


def served_by_the_app(whole: Whole) -> Any:
    return Leaving(served_by_the_app)(*whole.in_asgi())


def never_served(whole: Whole) -> None:
    raise LookupError


async def forgotten(whole: Whole) -> None:
    return


@pytest.mark.parametrize(
    ("serve", "said"),
    [
        (served_at_once, (200, b"at once")),
        (served_later, (200, b"later")),
        (served_by_the_app, (200, b"app")),
        (never_served, (200, b"app")),
        (forgotten, (500, b"Internal Server Error")),
    ],
)
async def test_what_an_app_leaves_for_a_head_serves_the_next_requests_with_it(serve: Serve, said: tuple[int, bytes]):
    async with talking(Leaving(serve)) as talk:
        asked = [await talk.ask(request(b"{}")) for _ in range(3)]
    statuses = [(int(answer.split(b" ", 2)[1]), answer.partition(b"\r\n\r\n")[2]) for answer in asked]
    assert statuses == [(200, b"app")] * 2 + [said]


class Recording:
    """An app that says what it was given, and whether the request came the short way."""

    def __init__(self) -> None:
        self.short: list[bool] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.short.append(WHOLE in scope.get("extensions", {}))
        body = b""
        while True:
            message = await receive()
            body += message["body"]
            if not message["more_body"]:
                break
        length = dict(scope["headers"])[b"content-length"]
        assert len(body) == int(length)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
        await send({"type": "http.response.body", "body": body})


async def test_a_head_that_was_sent_before_goes_the_short_way_whatever_the_length_of_the_body():
    app = Recording()
    async with talking(app) as talk:
        for body in (b"one", b"another", b"", b"x" * 10_000):
            assert (await talk.ask(request(body))).endswith(b"\r\n\r\n" + body)
        await talk.ask(request(b"one", HEAD + "X-More: 1\r\n"))
        await talk.ask(request(b"two", HEAD + "X-More: 1\r\n"))
    assert app.short == [False, True, True, True, False, True]


@pytest.mark.parametrize("head", [HEAD + "Expect: 100-continue\r\n", HEAD.replace("1.1", "1.0")])
async def test_a_head_that_changes_how_a_message_is_read_goes_the_long_way(head: str):
    app = Recording()
    async with talking(app) as talk:
        said = await talk.ask(request(b"one", head))
        assert said.startswith((b"HTTP/1.1 100", b"HTTP/1.1 200"))
    async with talking(app) as talk:
        await talk.ask(request(b"one"))
        await talk.ask(request(b"two"))
    assert app.short == [False, False, True]


@pytest.mark.parametrize("size", [8, MAX_HELD_BYTES])
async def test_a_request_may_come_in_pieces(size: int):
    app = Recording()
    sent = request(b"y" * size)
    end = sent.index(b"\r\n\r\n") + 4
    async with talking(app) as talk:
        await talk.ask(request(b"x"))
        for cut in (end, end + 3, 10):
            assert (await talk.ask(sent[:cut], sent[cut:])).endswith(b"y" * size)
    assert app.short[1:3] == [size == 8] * 2


async def test_a_second_request_that_stops_coming_is_given_up():
    app, bound = Recording(), bind("127.0.0.1", 0)
    port = int(url_of(bound).rpartition(":")[2])
    hasty = Patience(idle_s=60, coming_s=0.02, min_bytes_per_s=1e9, look_every_s=0.02)
    with anyio.fail_after(10):
        async with serving(app.__call__, bound, hasty), await anyio.connect_tcp("127.0.0.1", port) as stream:
            talk = Talk(stream)
            await talk.ask(request(b"one"))
            await talk.send(request(b"two")[:-1])
            assert (await talk.rest()).startswith(b"HTTP/1.1 408 Request Timeout\r\n")


async def test_requests_that_are_sent_without_waiting_are_answered_in_their_order():
    release = anyio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = (await receive())["body"]
        if body == b"wait":
            await release.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
        await send({"type": "http.response.body", "body": body})

    async with talking(app) as talk:
        await talk.ask(request(b"one"))
        await talk.send(request(b"wait"), request(b"two") + request(b"three"), request(b"four"))
        release.set()
        said = [await talk.answer() for _ in range(4)]
    assert [answer.partition(b"\r\n\r\n")[2] for answer in said] == [b"wait", b"two", b"three", b"four"]


async def test_what_an_app_does_after_its_answer_holds_up_no_other_request():
    release, done = anyio.Event(), anyio.Event()
    app = Recording()

    async def lingering(scope: Any, receive: Any, send: Any) -> None:
        await app(scope, receive, send)
        if app.short == [False, True]:
            await release.wait()
            done.set()

    async with talking(lingering) as talk:
        await talk.ask(request(b"one"))
        await talk.ask(request(b"two"))
        await talk.ask(request(b"three"))
        release.set()
        await done.wait()


async def test_context_variables_do_not_go_from_one_request_to_the_next():
    async def app(scope: Any, receive: Any, send: Any) -> None:
        found = remembered.get().encode()
        remembered.set((await receive())["body"].decode())
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(found))]})
        await send({"type": "http.response.body", "body": found})

    async with talking(app) as talk:
        for body in (b"a", b"b", b"c"):
            assert (await talk.ask(request(body))).endswith(b"nothing")


@pytest.mark.parametrize("leaves_nothing", [True, False])
async def test_a_request_that_has_waited_leaves_its_task_to_the_next_one_if_it_says_that_it_may(leaves_nothing: bool):
    tasks: list[object] = []
    found: list[str] = []

    def serve(whole: Whole) -> Any:
        async def rest() -> None:
            found.append(remembered.get())
            remembered.set("something")
            await anyio.lowlevel.checkpoint()
            tasks.append(asyncio.current_task())
            whole.answer(200, b"later")
            whole.left_nothing = leaves_nothing

        return rest()

    async with talking(Leaving(serve)) as talk:
        for _ in range(5):
            await talk.ask(request(b"{}"))
    assert len(set(tasks)) == (1 if leaves_nothing else 3)
    assert found == ["nothing"] * 3


async def test_an_app_learns_that_its_client_has_left():
    asked, gone = anyio.Event(), anyio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if (await receive())["body"] == b"two":
            asked.set()
            assert (await receive())["type"] == "http.disconnect"
            gone.set()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    async with talking(app) as talk:
        await talk.ask(request(b"one"))
        await talk.send(request(b"two"))
        await asked.wait()
        await talk.leave()
        await gone.wait()


async def test_an_app_that_fails_is_answered_for():
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if (await receive())["body"] == b"bad":
            raise LookupError("of the app")
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    async with talking(app) as talk:
        await talk.ask(request(b"one"))
        assert (await talk.ask(request(b"bad"))).startswith(b"HTTP/1.1 500 Internal Server Error")
        assert await talk.rest() == b""


async def test_a_connection_on_which_nothing_more_is_asked_is_closed():
    async with talking(Recording(), keep_alive_s=0) as talk:
        await talk.ask(request(b"one"))
        assert await talk.rest() == b""


async def test_an_idle_connection_does_not_hold_up_the_end_of_the_server():
    bound = bind("127.0.0.1", 0)
    port = int(url_of(bound).rpartition(":")[2])
    with anyio.fail_after(10):
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            talk = Talk(stream)
            async with serving(Recording().__call__, bound):
                await talk.ask(request(b"one"))
                await talk.ask(request(b"two"))
            assert await talk.rest() == b""


async def test_a_call_under_way_when_the_server_stops_is_told_so():
    entered = anyio.Event()

    @tool
    async def hold() -> str:
        """Never end."""
        entered.set()
        await anyio.sleep_forever()
        return "never"

    params: dict[str, Any] = {"name": "hold", "_meta": META}
    held = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).encode()
    sent = request(held, MODERN.replace("echo", "hold"))
    first = request(b'{"jsonrpc":"2.0","id":1,"method":"x","params":{}}', MODERN.replace("echo", "hold"))
    bound = bind("127.0.0.1", 0)
    port = int(url_of(bound).rpartition(":")[2])
    with anyio.fail_after(15):
        async with open_tool_server([hold], "t") as server, await anyio.connect_tcp("127.0.0.1", port) as stream:
            talk = Talk(stream)
            async with serving(server.app, bound):
                await talk.ask(first)
                await talk.send(sent)
                await entered.wait()
            said = await talk.answer()
    assert b"connection: close\r\n" in said
    assert json.loads(said.partition(b"\r\n\r\n")[2])["error"]["data"]["code"] == "agent_service_unavailable"
