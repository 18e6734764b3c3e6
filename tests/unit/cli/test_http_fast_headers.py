"""Headers that say what stands in the body are held against it on the short way too (mcp.md 1.2, custom headers)."""

import gc
import json
import socket
import struct
import weakref
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.unit.cli.test_http_fast import HEAD, META, Recording, answers, request, talking
from toolwire.cli.http_connection import HttpConnection
from toolwire.cli.http_fast import FastConnection, WholeRequest
from toolwire.compose import open_tool_server
from toolwire.sdk import ToolContext, tool

pytestmark = pytest.mark.anyio

SCHEMA = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "city": {"type": "string"}},
    "required": ["region"],
}
MODERN = HEAD + (
    "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: weather\r\n"
    "Accept: application/json, text/event-stream\r\n"
)


@tool(name="weather", version="1", risk_level="low", description="The weather.", input_schema=SCHEMA)
async def weather(arguments: dict[str, Any], ctx: ToolContext) -> str:
    return f"fine in {arguments['region']}"


def call(arguments: dict[str, Any]) -> bytes:
    params = {"name": "weather", "arguments": arguments, "_meta": META}
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).encode()


def with_region(value: str) -> str:
    return f"{MODERN}Mcp-Param-Region: {value}\r\n"


async def test_a_head_that_is_known_is_held_against_the_arguments_of_each_request():
    north = with_region("north")
    asked = [
        request(call({"region": "north"}), north),
        request(call({"region": "north", "city": "Bergen"}), north),
        request(call({"region": "south"}), north),
        request(call({"city": "Bergen"}), north),
        request(call({"region": "north"}), north),
        request(call({"region": "north"}), with_region("south")),
        request(call({"region": "north"}), MODERN),
        request(call({"region": "süd"}), with_region("=?base64?c8O8ZA==?=")),
        request(call({"region": "sud"}), with_region("=?base64?c8O8ZA==?=")),
    ]
    async with open_tool_server([weather], "bench", "1.0") as server:
        short = await answers(FastConnection, server.app, asked)
        assert short == await answers(HttpConnection, server.app, asked)
    statuses = [int(answer.split(b" ", 2)[1]) for answer in short]
    assert statuses == [200, 200, 400, 400, 200, 400, 400, 200, 400]
    refused = [json.loads(answer.partition(b"\r\n\r\n")[2]) for answer in short if b" 400 " in answer[:20]]
    assert {body["error"]["code"] for body in refused} == {-32020}


async def test_a_connection_that_was_reset_is_let_go_of_at_once():
    """Else each client that vanishes takes some ten kilobytes with it until the keep-alive time is over."""
    made: list[weakref.ref[FastConnection]] = []

    class Watched(FastConnection):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            made.append(weakref.ref(self))

    async with talking(Recording(), Watched, keep_alive_s=3600) as talk:
        await talk.ask(request(b"one"))
        await talk.ask(request(b"two"))
        talk.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await talk.leave()
        while made[0]() is not None:
            gc.collect()
            await anyio.lowlevel.checkpoint()


async def test_requests_that_overtake_what_an_app_does_after_its_answer_leave_nothing_for_the_collector():
    go_home = anyio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})
        await go_home.wait()

    gc.collect()
    gc.disable()
    try:
        async with talking(app) as talk:
            for _ in range(5):
                await talk.ask(request(b"x"))
            go_home.set()
            await anyio.wait_all_tasks_blocked()
            left = [one for one in gc.get_objects() if type(one) is WholeRequest]
    finally:
        gc.enable()
    assert len(left) <= 1  # that of the connection's last request
