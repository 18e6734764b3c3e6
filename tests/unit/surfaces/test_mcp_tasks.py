"""Tasks between the methods of MCP and the engine: what is kept of them, for whom and for how long (mcp.md 1.4)."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import msgspec
import pytest

from tests.unit.engine.fakes import ALICE, BOB, Agent, FaultyStore, LoopClock, catalog_of, running
from toolwire.core.call import Call, Caller
from toolwire.core.errors import AgentLost, StoreUnavailable
from toolwire.core.handler import Emit
from toolwire.core.ports import Op, Put
from toolwire.core.result import Result, failed, text_result
from toolwire.core.tool import Tool
from toolwire.engine.ending import TaskLimits
from toolwire.engine.engine import Engine, Limits
from toolwire.surfaces.asked import Asked
from toolwire.surfaces.endpoint import Endpoint
from toolwire.surfaces.mcp_methods import answer
from toolwire.wire.jsonrpc import decode

pytestmark = pytest.mark.virtual_time

CAN: dict[str, Any] = {
    "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}
}
LIMITS = Limits(history_ttl_s=0, tasks=TaskLimits(timeout_s=600.0, ttl_s=60.0, poll_s=2.5))
TOOLS = (
    Tool("slow", task="optional"),
    Tool("always", task="required"),
    Tool("long", task="required", task_timeout_s=7200.0),
)


class Desk:
    """An endpoint with an engine, and how it is asked."""

    def __init__(self, engine: Engine, store: FaultyStore, endpoint: Endpoint) -> None:
        self.engine = engine
        self.store = store
        self.endpoint = endpoint

    async def ask(self, method: str, caller: Caller = ALICE, endpoint: Endpoint | None = None, **params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": CAN}}
        message = decode(msgspec.json.encode(body))
        assert not hasattr(message, "error")
        asked = Asked(message, caller, endpoint or self.endpoint, "2026-07-28", True)  # pyright: ignore[reportArgumentType]
        return msgspec.json.decode((await answer(self.engine, asked)).body)

    async def begin(self, name: str) -> Any:
        task = (await self.ask("tools/call", name=name, arguments={}))["result"]
        assert task["resultType"] == "task"
        return task

    async def look(self, task_id: str, **more: Any) -> Any:
        return await self.ask("tasks/get", taskId=task_id, **more)


class Timed(Agent):
    """Tools that take as long as they are told to, and may go to somebody else."""

    def __init__(self, takes_s: float = 10.0, result: Result | Exception | None = None) -> None:
        super().__init__(self._take)
        self.takes_s = takes_s
        self.answer = result or text_result("done")

    async def _take(self, call: Call, emit: Emit) -> Result:
        await anyio.sleep(self.takes_s)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@asynccontextmanager
async def desk(tools: Timed, delegated: bool = False) -> AsyncGenerator[Desk]:
    store = FaultyStore(LoopClock())
    async with running(store, limits=LIMITS) as engine:
        catalog = catalog_of(tools, *TOOLS, delegate=tools if delegated else None)
        yield Desk(engine, store, Endpoint("agent_1", "bench", "1", catalog))


async def rows(store: FaultyStore) -> list[tuple[str, str]]:
    return [(kind, row.key) for kind in ("call", "open_call") for row in await store.scan(kind, None)]


async def test_a_call_that_is_quick_after_all_leaves_no_record():
    async with desk(Timed(0.05)) as there:
        message = await there.ask("tools/call", name="slow", arguments={})
        assert message["result"]["content"][0]["text"] == "done"
        assert await rows(there.store) == []


async def test_a_task_says_its_times_and_is_forgotten_when_they_are_up():
    async with desk(Timed()) as there:
        task = await there.begin("slow")
        assert (task["ttlMs"], task["pollIntervalMs"]) == (660_000, 2500)
        assert (await there.begin("long"))["ttlMs"] == 7_260_000
        await anyio.sleep_until(20)
        assert (await there.look(task["taskId"]))["result"]["status"] == "completed"
        await anyio.sleep_until(659)
        assert (await there.look(task["taskId"]))["result"]["status"] == "completed"
        await anyio.sleep_until(662)
        assert (await there.look(task["taskId"]))["error"]["code"] == -32602


async def test_a_task_that_takes_too_long_fails():
    async with desk(Timed(1e6)) as there:
        task_id = (await there.begin("slow"))["taskId"]
        await anyio.sleep_until(599)
        assert (await there.look(task_id))["result"]["status"] == "working"
        await anyio.sleep_until(602)
        task = (await there.look(task_id))["result"]
        assert (task["status"], task["error"]["data"]["code"]) == ("failed", "service_timeout")


@pytest.mark.parametrize("delegated", [False, True])
@pytest.mark.parametrize("name", ["slow", "always"])
async def test_a_task_is_in_the_store_when_its_client_hears_of_it(delegated: bool, name: str):
    async with desk(Timed(), delegated) as there:
        task_id = (await there.begin(name))["taskId"]
        assert await rows(there.store) == [("open_call", task_id)]
        await anyio.sleep(20)
        assert await rows(there.store) == [("call", task_id)]


async def test_a_task_is_there_for_nobody_else():
    async with desk(Timed()) as there:
        task_id = (await there.begin("always"))["taskId"]
        elsewhere = Endpoint("agent_2", "bench", "1", there.endpoint.catalog)
        cousin = Caller("another key", ALICE.owner, ALICE.surface)
        strangers: list[dict[str, Any]] = [{"caller": BOB}, {"caller": cousin}, {"endpoint": elsewhere}]
        for more in strangers:
            for method in ("tasks/get", "tasks/cancel", "tasks/update"):
                error = (await there.ask(method, taskId=task_id, inputResponses={}, **more))["error"]
                assert (error["code"], error["data"]["param"]) == (-32602, "taskId")
        assert (await there.look(task_id))["result"]["status"] == "working"


async def test_a_plain_call_that_has_ended_is_no_task():
    async with desk(Timed(0.01)) as there:
        there.engine.limits = Limits()
        call = Call("call_plain", ALICE, "slow", {}, there.engine.clock.now() + 60, agent_id="agent_1")
        await there.engine.submit(call, there.endpoint.catalog)
        assert (await there.look("call_plain"))["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("result", "status", "code"),
    [
        (text_result("fine"), "completed", None),
        (failed("the tool's own words"), "completed", None),
        (failed("bad arguments", "invalid_param"), "completed", None),
        (failed("lost", "agent_lost"), "failed", -32603),
        (AgentLost("lost"), "failed", -32603),
        (RuntimeError("a mistake"), "failed", -32603),
    ],
)
async def test_errors_of_the_protocol_alone_fail_a_task(result: Any, status: str, code: int | None):
    async with desk(Timed(1, result), delegated=True) as there:
        task_id = (await there.begin("always"))["taskId"]
        await anyio.sleep(5)
        task = (await there.look(task_id))["result"]
        assert task["status"] == status
        assert ("result" in task, "error" in task) == (code is None, code is not None)
        if code is not None:
            assert task["error"]["code"] == code
            assert "a mistake" not in str(task)


async def test_a_task_that_cannot_be_committed_is_refused_and_its_work_is_stopped():
    async def refuse(ops: Sequence[Op]) -> None:
        if any(isinstance(op, Put) and op.kind == "open_call" for op in ops):
            raise StoreUnavailable("the disk is full")

    async with desk(Timed()) as there:
        there.store.before_tx = refuse
        for name in ("slow", "always"):
            error = (await there.ask("tools/call", name=name, arguments={}))["error"]
            assert error["data"]["code"] == "agent_service_unavailable"
        await anyio.sleep(1)
        assert there.engine.idle
        assert await rows(there.store) == []
