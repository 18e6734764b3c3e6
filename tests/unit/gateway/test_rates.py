"""gateway.md 49, X21, §6: a credential's pace with an agent, over MCP and REST."""

from typing import Any

import httpx2
import pytest

from tests.interaction.gateways import OWNER, Attached, gateway_with
from toolwire.agent import Agent
from toolwire.core.errors import RateLimited
from toolwire.gateway import rates
from toolwire.gateway.rates import Pace, Rates


class Hand:
    """Monotonic time that the test moves."""

    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


def test_a_minutes_worth_may_come_at_once_and_then_a_steady_pace() -> None:
    now = Hand()
    pace = Pace(60, now)
    for _ in range(60):
        pace.take()
    with pytest.raises(RateLimited) as refused:
        pace.take()
    assert refused.value.data["retry_after_ms"] == 1000
    now.at += 1
    pace.take()
    with pytest.raises(RateLimited):
        pace.take()
    now.at += 3600
    for _ in range(60):
        pace.take()


def test_what_was_refused_does_not_count() -> None:
    now = Hand()
    pace = Pace(1, now)
    pace.take()
    for _ in range(100):
        with pytest.raises(RateLimited):
            pace.take()
    now.at += 60
    pace.take()


def test_credentials_and_agents_have_paces_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "MAX_PACES", 4)
    known = Rates(1, 0, Hand())
    for credential in ("key_1", "key_2"):
        for agent in ("agent_1", "agent_2"):
            pace = known.of(credential, "bak", agent)
            assert pace is not None
            pace.take()
    assert known.of("key_1", "oag", "agent_1") is None
    assert known.of("key_3", "bak", "agent_1") is not None  # those that rested longest have made room


class Asking:
    def __init__(self, there: Attached, client: httpx2.AsyncClient) -> None:
        self.there = there
        self._client = client

    async def mcp(self, key: str) -> httpx2.Response:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        return await self._client.post(f"/{self.there.agent_id}/mcp", json=body, headers={"x-agent-api-key": key})

    async def invoke(self, key: str) -> httpx2.Response:
        path = f"/api/v1/agents/{self.there.agent_id}/invoke"
        body: dict[str, Any] = {"tool": "ping"}
        return await self._client.post(path, json=body, headers={"authorization": f"Bearer {key}"})


@pytest.mark.parametrize("surface", ["mcp", "rest"])
async def test_too_many_requests_are_told_when_to_come_back(surface: str) -> None:
    agent = Agent("worker")

    @agent.tool
    async def ping() -> str:
        return "pong"

    async with gateway_with(agent, rate_limit_per_minute=3) as there:
        transport = httpx2.ASGITransport(there.gateway.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            asking = Asking(there, client)
            ask = asking.mcp if surface == "mcp" else asking.invoke
            assert [(await ask(there.bak)).status_code for _ in range(4)] == [200, 200, 200, 429]
            refused = await ask(there.bak)
            assert 1 <= int(refused.headers["retry-after"]) <= 20
            error = refused.json()["error"]
            if surface == "mcp":
                assert (error["code"], error["data"]["code"]) == (-32603, "rate_limited")
            else:
                assert error["code"] == "rate_limited"
            _, other = await there.gateway.keys.create("bak", OWNER, there.agent_id)
            _, owner = await there.gateway.keys.create("oag", OWNER)
            assert (await ask(other)).status_code == 200
            assert [(await ask(owner)).status_code for _ in range(5)] == [200] * 5
