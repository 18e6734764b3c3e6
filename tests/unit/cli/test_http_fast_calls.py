"""Plain calls, which are read in one go where their head is known, are answered as any other (contract mcp.md 1.3)."""

import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from tests.unit.cli.test_http_fast import META, MODERN, OLD, SSE, Talk, answers, request, talking
from toolwire.cli.http_connection import HttpConnection
from toolwire.cli.http_fast import FastConnection
from toolwire.cli.listening import bind, serving, url_of
from toolwire.compose import open_tool_server
from toolwire.sdk import ToolContext, ToolError, tool
from toolwire.surfaces.mcp_http import HttpSettings

pytestmark = pytest.mark.anyio

CLIENT = "io.modelcontextprotocol/clientInfo"
CAN = "io.modelcontextprotocol/clientCapabilities"
VERSION = "io.modelcontextprotocol/protocolVersion"


@tool
async def echo(text: str) -> str:
    """Return the text."""
    if text == "bad":
        raise ToolError("that is bad")
    if text == "worse":
        raise LookupError(text)
    return text


@tool
async def later(text: str) -> str:
    """Return the text after the loop's next turn."""
    await anyio.lowlevel.checkpoint()
    return await echo(text)


@tool
async def curious(ctx: ToolContext, text: str) -> str:
    """Say what the client can do."""
    return f"{text} {ctx.client_can('sampling')}"


@tool(task="required")
async def errand(text: str) -> str:
    """A task."""
    return text


def params(name: str, arguments: Any, meta: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments, "_meta": META if meta is None else meta, **more}


def called(asked: dict[str, Any], id_: Any = 7, method: str = "tools/call") -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": asked}).encode()


def modern(name: str, asked: dict[str, Any], id_: Any = 7, method: str = "tools/call") -> bytes:
    return request(called(asked, id_, method), MODERN.replace("echo", name))


PLAIN = params("echo", {"text": "hi"})


ASKED = (
    ("echo", PLAIN),
    ("echo", params("echo", {"text": "bad"})),
    ("echo", params("echo", {"text": "worse"})),
    ("echo", params("echo", {"text": 3})),
    ("echo", params("echo", {"text": ["3"]})),
    ("echo", params("echo", {})),
    ("echo", params("echo", None)),
    ("echo", params("echo", [1])),
    ("echo", params("echo", {"text": "hi", "attachments": []})),
    ("echo", params("later", {"text": "hi"})),
    ("echo", params("echo", {"text": "hi"}, {**META, CLIENT: {"name": "a", "version": "1"}})),
    ("echo", params("echo", {"text": "hi"}, {**META, CAN: {"sampling": {}}})),
    ("echo", params("echo", {"text": "hi"}, {**META, CAN: []})),
    ("echo", params("echo", {"text": "hi"}, {**META, VERSION: "2026-07-27"})),
    ("echo", params("echo", {"text": "hi"}, {**META, "progressToken": 3})),
    ("echo", params("echo", {"text": "hi"}, {**META, "progressToken": []})),
    ("echo", params("echo", {"text": "hi"}, {**META, "toolwire/timeout_ms": "soon"})),
    ("echo", params("echo", {"text": "hi"}, {**META, "toolwire/idempotency_key": ""})),
    ("echo", params("echo", {"text": "hi"}, {})),
    ("echo", params("echo", {"text": "hi"}, requestState="x")),
    ("later", params("later", {"text": "hi"})),
    ("later", params("later", {"text": "worse"})),
    ("later", params("later", {"text": 3})),
    ("curious", params("curious", {"text": "hi"}, {**META, CAN: {"sampling": {}}})),
    ("curious", params("curious", {"text": "hi"})),
    ("curious", params("curious", {"text": "hi"}, requestState=3)),
    ("errand", params("errand", {"text": "hi"})),
    ("nothing", params("nothing", {"text": "hi"})),
)


async def test_a_call_with_a_known_head_is_answered_as_one_with_a_new_one():
    sent: list[bytes] = []
    for name, asked in ASKED:
        first = modern(name, params(name, {"text": "first"}))
        sent += [first, modern(name, asked), modern(name, asked, "seven"), modern(name, asked, 1.5), first]
    async with open_tool_server([echo, later, curious, errand], "bench", "1.0") as server:
        said = await answers(FastConnection, server.app, sent)
        expected = await answers(HttpConnection, server.app, sent)
    for request_, short, long in zip(sent, said, expected, strict=True):
        assert short == long, request_


@pytest.mark.parametrize("head", [OLD, SSE, OLD + "Idempotency-Key: k\r\n", OLD + "Mcp-Session-Id: nobody\r\n"])
async def test_so_is_one_of_the_initialize_wire(head: str):
    plain = {"name": "later", "arguments": {"text": "hi"}}
    asked = [plain, plain, {**plain, "_meta": META}, {**plain, "_meta": {"progressToken": 1}}, {**plain, "name": 3}]
    sent = [request(called(each), head) for each in asked]
    async with open_tool_server([echo, later], "bench") as one, open_tool_server([echo, later], "bench") as other:
        said = await answers(FastConnection, one.app, sent)
        expected = await answers(HttpConnection, other.app, sent)
    moments = rb'"\d{4}-\d\d-[^"]*"'
    assert [re.sub(moments, b"", each) for each in said] == [re.sub(moments, b"", each) for each in expected]


async def said_in_a_session(protocol: type[HttpConnection], can: dict[str, Any]) -> list[bytes]:
    """What a session is told, in which each call comes twice; ids and moments taken out."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": can, "clientInfo": {"name": "a", "version": "1"}}
    calls = [(name, {"text": text}) for name in ("echo", "later", "curious", "nothing") for text in ("hi", "bad", 3)]
    asked = [called({"name": name, "arguments": arguments}) for name, arguments in calls for _ in range(2)]
    asked.insert(9, called({"level": "debug"}, method="logging/setLevel"))
    async with (
        open_tool_server([echo, later, curious], "bench", "1.0") as server,
        talking(server.app, protocol) as talk,
    ):
        begun = await talk.ask(request(called(hello, method="initialize"), OLD))
        found = re.search(rb"mcp-session-id: ([^\r]*)", begun)
        assert found is not None
        head = f"{OLD}Mcp-Session-Id: {found[1].decode()}\r\n"
        said = [await talk.ask(request(each, head)) for each in asked]
        said.append(await talk.ask(f"{head.replace('POST', 'DELETE')}\r\n".encode()))
        said += [await talk.ask(request(each, head)) for each in asked[:2]]
    return [re.sub(rb"date: [^\r]*|(req_|call_)\w+", rb"\1", each) for each in said]


@pytest.mark.parametrize("can", [{}, {"sampling": {}}])
async def test_so_is_one_of_a_session_until_that_ends(can: dict[str, Any]):
    short, long = [await said_in_a_session(protocol, can) for protocol in (FastConnection, HttpConnection)]
    assert short == long
    assert [int(each.split(b" ", 2)[1]) for each in short[-3:]] == [200, 404, 404]


async def test_a_notification_in_the_words_of_a_call_is_dropped_as_ever():
    first = modern("echo", PLAIN)
    dropped = request(json.dumps({"jsonrpc": "2.0", "method": "tools/call", "params": PLAIN}).encode(), MODERN)
    async with open_tool_server([echo], "bench", "1.0") as server:
        said = await answers(FastConnection, server.app, [first, dropped, first])
    assert [int(each.split(b" ", 2)[1]) for each in said] == [200, 202, 200]


class Holding:
    """A server with a tool that is held."""

    def __init__(self) -> None:
        self.let_go, self.stopped = anyio.Event(), anyio.Event()

    @asynccontextmanager
    async def talk(self) -> AsyncGenerator[Talk]:
        @tool
        async def hold(text: str) -> str:
            """Answer when let go; `soon` at once."""
            try:
                if text != "soon":
                    await self.let_go.wait()
            except anyio.get_cancelled_exc_class():
                self.stopped.set()
                raise
            return text

        settings = HttpSettings(sse_keepalive_s=0.01)
        async with open_tool_server([hold], "t", settings=settings) as server, talking(server.app) as talk:
            await talk.ask(self.request("soon"))
            yield talk

    def request(self, text: str) -> bytes:
        return modern("hold", params("hold", {"text": text}))


async def test_one_that_takes_long_keeps_its_client_waiting_with_a_stream():
    holding = Holding()
    async with holding.talk() as talk:
        await talk.send(holding.request("held"))
        assert b"content-type: text/event-stream" in await talk.until(b": ping")
        holding.let_go.set()
        said = await talk.until(b"0\r\n\r\n")
    assert json.loads(said.partition(b"data: ")[2].partition(b"\n")[0])["result"]["content"][0]["text"] == "held"


async def test_one_whose_client_leaves_is_stopped():
    holding = Holding()
    async with holding.talk() as talk:
        await talk.send(holding.request("held"))
        await talk.leave()
        await holding.stopped.wait()


async def test_one_under_way_when_the_server_stops_is_answered():
    entered = anyio.Event()

    @tool
    async def hold(text: str) -> str:
        """Never end, but `soon`."""
        if text != "soon":
            entered.set()
            await anyio.sleep_forever()
        return text

    bound = bind("127.0.0.1", 0)
    port = int(url_of(bound).rpartition(":")[2])
    with anyio.fail_after(15):
        async with open_tool_server([hold], "t") as server, await anyio.connect_tcp("127.0.0.1", port) as stream:
            talk = Talk(stream)
            async with serving(server.app, bound):
                await talk.ask(modern("hold", params("hold", {"text": "soon"})))
                await talk.send(modern("hold", params("hold", {"text": "held"})))
                await entered.wait()
            said = await talk.answer()
    assert json.loads(said.partition(b"\r\n\r\n")[2])["error"]["data"]["code"] == "agent_service_unavailable"
