"""Calls under keys whose head is known are answered as any other, and replayed so (gateway.md 26-27, D3, D8, D9)."""

import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from tests.interaction.gateways import Attached, gateway_with
from tests.unit.cli.test_http_fast import META, MODERN, Talk, answers, request, talking
from toolwire.agent import Agent, ToolError
from toolwire.cli.http_connection import HttpConnection
from toolwire.cli.http_fast import FastConnection

pytestmark = pytest.mark.anyio

FIRST = {"text": "first"}
REPEATED = {"text": "hi", "idempotency_key": "k1"}
ASKED: tuple[dict[str, Any], ...] = (
    FIRST,
    REPEATED,
    REPEATED,
    {**REPEATED, "text": "ho"},
    {**REPEATED, "text": 3},
    {"text": 3, "idempotency_key": "k2"},
    {"text": "bad", "idempotency_key": "k3"},
    {"text": "bad", "idempotency_key": "k3"},
    {"text": "hi", "idempotency_key": ""},
    {"text": "hi", "idempotency_key": 4},
    {"text": "hi", "idempotency_key": "k4", "attachments": []},
    {"text": "hi", "idempotency_key": "k4"},
    {"text": "hi", "idempotency_key": "k5", "attachments": "none"},
    {"text": "hi", "attachments": [{"file_id": "file_1"}]},
    {"text": "hi", "context_id": "ch_1", "idempotency_key": "k6"},
)


class Held:
    """An agent whose tool is held for one text, until it is let go; `texts` has those that it was called with."""

    def __init__(self) -> None:
        self.let_go = anyio.Event()
        self.texts: list[str] = []
        self.agent = Agent("held")

        @self.agent.tool
        async def echo(text: str) -> str:
            """Return the text."""
            self.texts.append(text)
            if text == "bad":
                raise ToolError("that is bad")
            if text == "held":
                await self.let_go.wait()
            return text


def body(arguments: dict[str, Any], id_: Any = 7) -> bytes:
    params = {"name": "echo", "arguments": arguments, "_meta": META}
    return json.dumps({"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}).encode()


def head_of(there: Attached, more: str = "") -> str:
    return MODERN.replace("/mcp", f"/{there.agent_id}/mcp") + f"X-Agent-API-Key: {there.bak}\r\n{more}"


async def test_calls_under_keys_are_answered_alike_whether_their_head_is_known_or_new():
    told: list[list[bytes]] = []
    texts: list[list[str]] = []
    for connection in (FastConnection, HttpConnection):
        held = Held()
        async with gateway_with(held.agent) as there:
            sent = [request(body(arguments), head_of(there)) for arguments in ASKED]
            sent += [
                request(body(REPEATED), head_of(there, "Idempotency-Key: k1\r\n")),
                request(body(FIRST), head_of(there)),
            ]
            said = await answers(connection, there.gateway.app, sent)
        changing = rb'(ch_|agent_|file_)[\w-]+|"\d{4}-\d\d-[^"]*"'
        told.append([re.sub(changing, rb"", each) for each in said])
        texts.append(held.texts)
    short, long = told
    for arguments, one, other in zip(ASKED, short, long, strict=False):
        assert one == other, arguments
    assert short == long
    assert texts[0] == texts[1] == ["first", "hi", "bad", "hi", "hi", "first"]
    assert [b"idempotency-replayed: true" in each for each in short].count(True) == 4


@asynccontextmanager
async def talk_to(held: Held) -> AsyncGenerator[tuple[Talk, Attached]]:
    async with gateway_with(held.agent) as there, talking(there.gateway.app) as talk:
        await talk.ask(request(body(FIRST), head_of(there)))
        yield talk, there


async def test_a_client_that_leaves_does_not_stop_its_call_under_a_key():
    """gateway.md D21: the key still wants the result."""
    held = Held()
    sent = {"text": "held", "idempotency_key": "k1"}
    async with talk_to(held) as (talk, there):
        await talk.send(request(body(sent), head_of(there)))
        while "held" not in held.texts:
            await anyio.lowlevel.checkpoint()
        await talk.leave()
        async with talking(there.gateway.app) as again:
            await again.ask(request(body(FIRST), head_of(there)))
            await again.send(request(body(sent, 8), head_of(there)))
            held.let_go.set()
            said = await again.answer()
    answer = json.loads(said.partition(b"\r\n\r\n")[2])
    assert answer["result"]["content"][0]["text"] == "held"
    assert answer["result"]["_meta"]["toolwire/idempotency"]["replayed"]
    assert held.texts.count("held") == 1
