"""The agents' MCP endpoints from bytes to bytes: the gateway's door under the MCP surface.

gateway.md 1-7, 11, 16, 26-27, 43, 45-47, D3, D8, D11, D16, D22, X8-X10, X20. The agent itself is a delegate that is
always there; how real agents answer is told in the tests of the courier and the link.
"""

from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from tests.unit.gateway.world import World, open_world
from toolwire.core.call import Caller
from toolwire.core.errors import BlobNotFound
from toolwire.engine.engine import Engine
from toolwire.gateway.agent_record import AgentPatch
from toolwire.gateway.app import gateway_app
from toolwire.gateway.door import GatewayDoor
from toolwire.surfaces.limits import Guard
from toolwire.surfaces.mcp_http import HttpSettings, McpHttp
from toolwire.surfaces.rest import RestApp
from toolwire.surfaces.sessions import Sessions
from toolwire.wire.link import Registration, Skill

SEARCH = Skill(
    "web_search",
    "Search the web.",
    {
        "type": "object",
        "properties": {"query": {"type": "string"}, "max_results": {"type": "integer", "default": 5}},
        "required": ["query"],
        "additionalProperties": False,
    },
)
SCREENSHOT = Skill("screenshot", "Take a screenshot.")


class NoBlobs:
    async def put(self, key: str, data: bytes) -> None:
        return None

    async def write(self, key: str, pieces: AsyncIterable[bytes]) -> None:
        return None

    async def open(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes]:
        raise BlobNotFound(f"nothing under {key!r}")
        yield b""

    async def delete(self, key: str) -> None:
        return None


class Site:
    """A gateway with one agent of the first owner; requests carry its `bak_` unless they say otherwise."""

    def __init__(self, world: World, client: httpx2.AsyncClient, agent_id: str, bak: str) -> None:
        self.world = world
        self.client = client
        self.agent_id = agent_id
        self.bak = bak

    async def post(self, body: Any, headers: dict[str, str] | None = None, path: str | None = None) -> httpx2.Response:
        sent = {"x-agent-api-key": self.bak} if headers is None else headers
        return await self.client.post(path or f"/{self.agent_id}/mcp", json=body, headers=sent)

    async def call(self, name: str, arguments: Any = None, id_: Any = 1) -> Any:
        """The JSON-RPC response to a tools/call."""
        params = {"name": name} if arguments is None else {"name": name, "arguments": arguments}
        response = await self.post({"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params})
        assert response.status_code == 200
        return response.json()


@asynccontextmanager
async def open_site() -> AsyncGenerator[Site]:
    world = await open_world()
    record = await world.agents.create("owner", "demo")
    await world.agents.sync(record.agent_id, Registration("Demo", "1.0", skills=(SEARCH, SCREENSHOT)))
    _, bak = await world.keys.create("bak", "owner", record.agent_id)

    async def owns_context(agent_id: str, caller: Caller, context_id: str) -> bool:
        return context_id == "ch_mine"

    door = GatewayDoor(world.auth, world.agents, "http://gw.example", owns_context=owns_context)
    guard = Guard()
    engine = Engine(world.store, NoBlobs(), world.clock)
    sessions = Sessions(world.store, engine.recorder, world.clock, b"secret", 3600)
    mcp = McpHttp(engine, door, sessions, guard, HttpSettings(request_limit_bytes=4096))
    rest = RestApp([], guard, door.challenge)
    app = gateway_app(mcp, door.serves, rest, rest, guard)
    async with (
        engine.running(),
        mcp.running(),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost:8094") as client,
    ):
        yield Site(world, client, record.agent_id, bak)


MODERN_META: dict[str, Any] = {"protocolVersion": "2026-07-28", "clientCapabilities": {}}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


async def test_a_plain_request_lists_exactly_the_registered_tools():
    """gateway.md 2, 5-7: no initialize, no Accept; name, description, inputSchema, and nothing of the gateway's own."""
    async with open_site() as site:
        response = await site.post(LIST)
        assert response.headers["content-type"] == "application/json"
        tools: list[Any] = [
            {"name": "web_search", "description": "Search the web.", "inputSchema": SEARCH.input_schema},
            {
                "name": "screenshot",
                "description": "Take a screenshot.",
                "inputSchema": {"type": "object", "properties": {}},
            },
        ]
        assert response.json() == {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}


@pytest.mark.parametrize("id_", [42, "forty-two", 0])
async def test_a_call_is_answered_under_its_own_id_with_the_calls_name(id_: Any):
    """gateway.md 12, 16, D24: the call's id is in `_meta`."""
    async with open_site() as site:
        answer = await site.call("web_search", {"query": "BeeOS"}, id_)
        assert answer["id"] == id_
        assert answer["result"]["content"] == [{"type": "text", "text": "web_search"}]
        assert answer["result"]["_meta"]["toolwire/task_id"].startswith("call_")


async def test_absent_and_null_arguments_are_an_empty_object():
    """gateway.md X10."""
    async with open_site() as site:
        assert "result" in await site.call("screenshot")
        body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "screenshot", "arguments": None}}
        assert "result" in (await site.post(body)).json()


@pytest.mark.parametrize(
    ("name", "arguments", "code", "token", "param"),
    [
        ("nothing", {}, -32601, "tool_not_found", "name"),
        ("WEB_SEARCH", {"query": "x"}, -32601, "tool_not_found", "name"),
        ("web_search", {}, -32602, "invalid_param", None),
        ("web_search", {"query": 7}, -32602, "invalid_param", "arguments/query"),
        ("web_search", {"query": "x", "more": 1}, -32602, "invalid_param", None),
        ("web_search", {"query": "x", "idempotency_key": 7}, -32602, "invalid_param", "arguments.idempotency_key"),
        ("screenshot", {"attachments": [{"file_id": "f"}]}, -32602, "invalid_param", "attachments[0].file_id"),
        ("web_search", [], -32602, "invalid_param", "arguments"),
    ],
)  # fmt: skip
async def test_what_cannot_be_called_is_refused_in_the_seeds_codes(
    name: str, arguments: Any, code: int, token: str, param: str | None
):
    """gateway.md 11, 43, D11, X8, X9; issue item 6 for attachments. HTTP 200, `error.data.code`."""
    async with open_site() as site:
        error = (await site.call(name, arguments))["error"]
        assert (error["code"], error["data"]["code"]) == (code, token)
        if param is not None:
            assert error["data"]["param"] == param


async def test_a_repeat_under_a_key_is_replayed_under_the_new_id():
    """gateway.md 26-27, D3, D9: the key is not the tool's; another payload is refused."""
    async with open_site() as site:
        sent = {"query": "q3", "idempotency_key": "user_7:q3_summary"}
        first = (await site.call("web_search", sent, 42))["result"]
        again = await site.call("web_search", sent, 43)
        assert again["id"] == 43
        assert again["result"]["content"] == first["content"]
        assert again["result"]["_meta"]["toolwire/task_id"] == first["_meta"]["toolwire/task_id"]
        assert again["result"]["_meta"]["toolwire/idempotency"]["replayed"] is True
        error = (await site.call("web_search", {**sent, "query": "q4"}))["error"]
        assert (error["code"], error["data"]["code"]) == (-32602, "idempotency_key_reused")


async def test_without_a_key_the_challenge_is_given_with_a_json_rpc_body():
    """gateway.md 47, D16."""
    async with open_site() as site:
        for headers in ({}, {"authorization": "Bearer bak_" + "0" * 64}, {"authorization": "Basic YTpi"}):
            response = await site.post(LIST, headers)
            assert response.status_code == 401
            assert response.json()["error"]["data"]["code"] == "unauthorized"
            assert response.headers["www-authenticate"] == (
                'Bearer realm="MCP", resource_metadata='
                f'"http://gw.example/.well-known/oauth-protected-resource/{site.agent_id}/mcp"'
            )


async def test_two_keys_that_differ_are_refused_and_one_key_twice_is_not():
    """gateway.md 45."""
    async with open_site() as site:
        _, owner = await site.world.keys.create("oag", "owner")
        both = {"x-agent-api-key": site.bak, "authorization": f"Bearer {owner}"}
        assert (await site.post(LIST, both)).status_code == 401
        both["authorization"] = f"Bearer {site.bak}"
        assert (await site.post(LIST, both)).status_code == 200


async def test_other_agents_are_forbidden_or_unknown_and_the_alias_is_the_same_place():
    """gateway.md D22, X2, X20."""
    async with open_site() as site:
        other = await site.world.agents.create("owner", "other")
        foreign = await site.world.agents.create("acme", "foreign")
        assert (await site.post(LIST, path=f"/{other.agent_id}/mcp")).status_code == 403
        for agent_id in (foreign.agent_id, "agent_nobody"):
            response = await site.post(LIST, path=f"/{agent_id}/mcp")
            assert (response.status_code, response.json()["error"]["data"]["code"]) == (404, "agent_not_found")
        assert (await site.post(LIST, path=f"/agents/{site.agent_id}/mcp")).status_code == 200
        await site.world.agents.patch(site.agent_id, AgentPatch(mcp_enabled=False))
        assert (await site.post(LIST)).status_code == 404


async def test_the_key_is_checked_before_the_body_and_the_agent_before_its_size():
    """gateway.md §6, order on the gateway."""
    async with open_site() as site:
        large = {**LIST, "params": {"x": "y" * 5000}}
        assert (await site.post(large, {})).status_code == 401
        assert (await site.post(large, path="/agent_nobody/mcp")).status_code == 404
        assert (await site.post(large)).status_code == 413


async def test_a_session_is_the_callers_and_the_agents():
    """gateway.md 40, D12: another key of the same agent does not open it."""
    async with open_site() as site:
        begin = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            },
        }
        opened = await site.post(begin)
        assert opened.json()["result"]["serverInfo"]["name"] == "demo"
        session = opened.headers["mcp-session-id"]
        _, second = await site.world.keys.create("bak", "owner", site.agent_id)
        statuses = [
            (await site.post(LIST, {"x-agent-api-key": key, "mcp-session-id": session})).status_code
            for key in (site.bak, second)
        ]
        assert statuses == [200, 404]


@pytest.mark.parametrize(("version", "status"), [(None, 200), ("2026-07-28", 400)])
async def test_a_conversation_that_is_not_the_callers_is_a_wrong_parameter(version: str | None, status: int):
    """gateway.md D12, D16: the agent is there, so it is -32602 and not a 404."""
    meta: dict[str, Any] = {"toolwire/context_id": "ch_other"}
    sent: dict[str, str] = {}
    if version is not None:
        meta |= {f"io.modelcontextprotocol/{name}": value for name, value in MODERN_META.items()}
        sent = {"mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": "screenshot"}
    async with open_site() as site:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "screenshot", "_meta": meta}}
        headers = {"x-agent-api-key": site.bak, **sent}
        refused = await site.post(body, headers)
        error = refused.json()["error"]
        assert (refused.status_code, error["code"], error["data"]["code"]) == (status, -32602, "invalid_param")
        assert error["data"]["param"] == "_meta.toolwire/context_id"

        meta["toolwire/context_id"] = "ch_mine"
        result = (await site.post(body, headers)).json()["result"]
        assert result["_meta"]["toolwire/context_id"] == "ch_mine"

        meta["toolwire/idempotency_key"] = "k1"
        first = (await site.post(body, headers)).json()["result"]
        meta["toolwire/context_id"] = "ch_other"  # a known key comes first (gateway.md §6, order)
        again = await site.post(body, headers)
        assert again.headers["idempotency-replayed"] == "true"
        assert again.json()["result"]["_meta"]["toolwire/task_id"] == first["_meta"]["toolwire/task_id"]
        meta["toolwire/idempotency_key"] = "k2"
        assert (await site.post(body, headers)).json()["error"]["data"]["param"] == "_meta.toolwire/context_id"


async def test_an_agent_without_tools_is_spoken_to():
    """gateway.md X1, D12: the fallback tool; a conversation that is not the caller's is not gone on with."""
    async with open_site() as site:
        await site.world.agents.sync(site.agent_id, Registration("Demo"))
        assert "result" in await site.call("message", {"message": "hello"})
        assert (await site.call("message", {}))["error"]["code"] == -32602
