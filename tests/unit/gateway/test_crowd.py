"""How many calls and sessions there may be at once (gateway.md 49, X21; docs/reference/settings.md)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.unit.gateway.remote_site import RemoteSite, open_remote_site
from tests.unit.gateway.service import NoBlobs
from tests.unit.gateway.world import ManualClock, Present
from toolwire.adapters.memory import MemoryStore
from toolwire.core.call import Call, Caller
from toolwire.core.errors import RateLimited, ToolwireError
from toolwire.core.handler import Delegate, Emit
from toolwire.core.result import Result, text_result
from toolwire.core.tool import Tool
from toolwire.engine.catalog import Catalog
from toolwire.engine.engine import Engine
from toolwire.gateway.agent_record import AgentRecord
from toolwire.gateway.crowd import Crowd
from toolwire.providers.schema import compile_validator

OTHER = Caller("key_2", "own_2", "gateway")
MINE = Caller("key_1", "own_1", "gateway")


class Slow(Present):
    """An agent that answers when `gate` opens; what it is asked before is under way."""

    def __init__(self, record: AgentRecord) -> None:
        super().__init__(record)
        self.gate = anyio.Event()
        self.at_work = 0

    async def call(self, call: Call, emit: Emit) -> Result:
        self.at_work += 1
        await self.gate.wait()
        return text_result(call.tool)


class Stage:
    """Two agents on one engine, whose calls have limits."""

    def __init__(self, agent_limit: int, owner_limit: int) -> None:
        clock = ManualClock()
        self.engine = Engine(MemoryStore(clock), NoBlobs(), clock)
        self.crowd = Crowd(self.engine, agent_limit, owner_limit)
        self.deadline = clock.now() + 60
        self.agents: dict[str, Slow] = {}
        self.catalogs: dict[str, Catalog] = {}
        self.made = 0
        for agent_id in ("a", "b"):
            slow = self.agents[agent_id] = Slow(AgentRecord(agent_id, "own_1", agent_id, 0, 0))
            delegate = self.crowd.limited(self._slow)(AgentRecord(agent_id, "own_1", agent_id, 0, 0))
            self.catalogs[agent_id] = Catalog(compile_validator)
            self.catalogs[agent_id].replace([Tool("work")], delegate, delegate)
            assert slow.agent_id == agent_id

    def _slow(self, record: AgentRecord) -> Delegate:
        return self.agents[record.agent_id]

    async def call(self, agent_id: str = "a", caller: Caller = MINE, key: str | None = None, **more: Any) -> str | None:
        """The code that a call is refused or ends with, `None` for a good end."""
        self.made += 1
        call = Call(f"call_{self.made}", caller, "work", more, self.deadline, agent_id, key)
        try:
            submission = await self.engine.submit(call, self.catalogs[agent_id])
        except ToolwireError as error:
            return error.code
        result = submission.record.result
        return None if result is None or result.error is None else result.error.code


@asynccontextmanager
async def staged(agent_limit: int = 0, owner_limit: int = 0) -> AsyncGenerator[Stage]:
    stage = Stage(agent_limit, owner_limit)
    with anyio.fail_after(5):
        async with stage.engine.running():
            yield stage


@pytest.mark.anyio
async def test_an_agent_with_as_many_calls_as_it_may_have_takes_no_more_until_one_ends():
    async with staged(agent_limit=2) as stage, anyio.create_task_group() as tasks:
        for key in (None, "k-1"):
            tasks.start_soon(stage.call, "a", MINE, key)
        await anyio.wait_all_tasks_blocked()
        refused = [await stage.call(), await stage.call("a", OTHER), await stage.call("a", MINE, "k-2")]
        tasks.start_soon(stage.call, "b")
        await anyio.wait_all_tasks_blocked()

        assert refused == ["rate_limited"] * 3
        assert (stage.agents["a"].at_work, stage.agents["b"].at_work) == (2, 1)
        stage.agents["b"].gate.set()
        stage.agents["a"].gate.set()
        await anyio.wait_all_tasks_blocked()
        assert [await stage.call() for _ in range(5)] == [None] * 5


@pytest.mark.anyio
async def test_an_owner_has_a_limit_of_its_own_over_all_agents():
    async with staged(owner_limit=2) as stage, anyio.create_task_group() as tasks:
        tasks.start_soon(stage.call, "a")
        tasks.start_soon(stage.call, "b")
        await anyio.wait_all_tasks_blocked()

        assert await stage.call("a") == "rate_limited"
        tasks.start_soon(stage.call, "a", OTHER)
        await anyio.wait_all_tasks_blocked()
        assert stage.agents["a"].at_work == 2
        for agent in stage.agents.values():
            agent.gate.set()


@pytest.mark.anyio
async def test_many_keyed_calls_at_the_same_moment_are_counted_before_they_are_claimed():
    async with staged(agent_limit=3) as stage:
        codes: list[str | None] = []

        async def one(number: int) -> None:
            codes.append(await stage.call("a", MINE, f"k-{number}"))

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(one, number)
            await anyio.wait_all_tasks_blocked()
            assert stage.agents["a"].at_work == 3
            stage.agents["a"].gate.set()

        assert (codes.count("rate_limited"), codes.count(None)) == (17, 3)


@pytest.mark.anyio
async def test_a_repeat_under_a_known_key_joins_its_call_whatever_the_limit():
    async with staged(agent_limit=1) as stage, anyio.create_task_group() as tasks:
        tasks.start_soon(stage.call, "a", MINE, "k")
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(stage.call, "a", MINE, "k")
        await anyio.wait_all_tasks_blocked()
        assert stage.agents["a"].at_work == 1
        stage.agents["a"].gate.set()


@pytest.mark.anyio
async def test_a_call_that_is_refused_after_it_took_its_place_gives_it_up():
    async with staged(agent_limit=1) as stage:
        stage.agents["a"].gate.set()

        assert await stage.call("a", MINE, "k", odd=object()) == "invalid_param"
        assert await stage.call() is None
        assert await stage.call() is None


@pytest.mark.anyio
async def test_a_call_that_is_cancelled_gives_its_place_up():
    async with staged(agent_limit=1) as stage:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stage.call)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        stage.agents["a"].gate.set()

        assert await stage.call() is None


def test_nothing_is_counted_where_nothing_is_limited():
    stage = Stage(0, 0)

    assert stage.engine.observers == []
    assert [type(entry.delegate) for entry in stage.catalogs["a"]] == [Slow]


@pytest.mark.anyio
async def test_who_is_refused_is_told_when_to_try_again():
    async with staged(agent_limit=1) as stage, anyio.create_task_group() as tasks:
        tasks.start_soon(stage.call)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(RateLimited) as caught:
            stage.crowd.enter(Call("call_2", MINE, "work", {}, 0, "a"))
        assert caught.value.data["retry_after_ms"] == 1000
        stage.agents["a"].gate.set()


async def initialized(site: RemoteSite, remote: dict[str, Any], key: str) -> httpx2.Response:
    """The answer to `initialize`; the session is used once, as every client does."""
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    head = {"authorization": f"Bearer {key}", "accept": "application/json"}
    place = f"/{remote['agent_id']}/mcp"
    begun = await site.client.post(place, json=body, headers=head)
    if begun.status_code == 200:
        told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await site.client.post(place, json=told, headers={**head, "mcp-session-id": begun.headers["mcp-session-id"]})
    return begun


@pytest.mark.anyio
async def test_a_credential_has_as_many_sessions_as_it_may_until_it_ends_one(tmp_path: Path):
    async with open_remote_site(tmp_path, sessions_limit=2) as site:
        remote = await site.add()
        body = {"kind": "bak", "agent_id": remote["agent_id"]}
        bak = (await site.ask("POST", "/keys", body, status=201))["key"]
        first, second, third = [await initialized(site, remote, bak) for _ in range(3)]

        assert (first.status_code, second.status_code, third.status_code) == (200, 200, 429)
        data = third.json()["error"]["data"]
        assert (data["code"], data["retry_after_ms"]) == ("rate_limited", 60_000)
        assert third.headers["retry-after"] == "60"
        assert (await initialized(site, remote, site.key)).status_code == 200
        head = {"authorization": f"Bearer {bak}", "mcp-session-id": first.headers["mcp-session-id"]}
        await site.client.request("DELETE", f"/{remote['agent_id']}/mcp", headers=head)
        assert (await initialized(site, remote, bak)).status_code == 200
        assert (await initialized(site, remote, bak)).status_code == 429


@pytest.mark.anyio
@pytest.mark.parametrize("surface", ["mcp", "rest"])
async def test_over_http_a_call_too_many_is_a_429_that_says_when_to_come_back(tmp_path: Path, surface: str):
    async with open_remote_site(tmp_path, agent_calls_limit=1) as site, anyio.create_task_group() as tasks:
        remote = await site.add()
        limited, started = anyio.Event(), anyio.Event()
        site.far.pause = limited, started
        tasks.start_soon(site.call, remote, "search")
        await started.wait()
        head = {"authorization": f"Bearer {site.key}"}
        rpc = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "store"}}
        if surface == "mcp":
            refused = await site.client.post(f"/{remote['agent_id']}/mcp", json=rpc, headers=head)
        else:
            place = f"/api/v1/agents/{remote['agent_id']}/invoke"
            refused = await site.client.post(place, json={"tool": "store"}, headers=head)
        limited.set()

        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        error = refused.json()["error"]
        assert "rate_limited" in (error["code"], error.get("data", {}).get("code"))
