"""A call to an agent by way of the gateway shows on the boards where it stands."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from tests.unit.engine.fakes import ALICE, HeldTools, LoopClock, Tools, call_of, catalog_of, running
from toolwire.adapters.memory import MemoryStore
from toolwire.canvas.gateway_calls import GatewayCalls
from toolwire.canvas.workspaces import Workspaces
from toolwire.core.asking import Question
from toolwire.core.board import Card, PutCard, removal
from toolwire.core.call import Call
from toolwire.core.event import Answered, Asks, Log, Progress
from toolwire.core.handler import Emit
from toolwire.core.result import Result, failed, text_result
from toolwire.engine.engine import Engine
from toolwire.surfaces.feed import Feed, Follower


class Desk:
    """An engine, and boards that agents may stand on."""

    def __init__(self, engine: Engine, workspaces: Workspaces, feed: Feed) -> None:
        self.engine = engine
        self.workspaces = workspaces
        self.feed = feed

    async def workspace(self, *agents: str) -> tuple[str, Follower]:
        """A workspace with these agents on its board, and a reader of what happens there from then on."""
        made = await self.workspaces.create("alice", "desk")
        for agent in agents:
            card = Card(f"card_{agent}_{made.id[-6:]}", "agent", agent, agent_id=agent)
            await self.workspaces.edit("alice", made.id, lambda _, card=card: (PutCard(card),))
        return made.id, self.feed.follow(made.id)


@asynccontextmanager
async def open_desk() -> AsyncGenerator[Desk]:
    store, feed = MemoryStore(LoopClock()), Feed()
    async with running(store) as engine:
        workspaces = Workspaces(store, LoopClock(), feed)
        async with GatewayCalls(workspaces, feed, engine).running():
            yield Desk(engine, workspaces, feed)
        assert engine.observers == []


async def told(follower: Follower) -> dict[str, Any]:
    with anyio.fail_after(5):
        moment = await follower.next()
    assert moment is not None
    assert moment.kind == "call"
    return moment.data


async def test_a_call_is_told_from_its_beginning_to_its_end_without_what_it_carries():
    async def work(call: Call, emit: Emit) -> Result:
        emit(Progress(1, 2, "half\nway"))
        emit(Log("info", "a line"))
        emit(Progress(2, 2))
        return text_result("the secret answer")

    async with open_desk() as desk:
        workspace, follower = await desk.workspace("agent_1")
        call = call_of(agent_id="agent_1", arguments={"secret": "word"})
        await desk.engine.submit(call, catalog_of(Tools(work)))

        begun, half, ended = [await told(follower) for _ in range(3)]
    assert begun == {
        "card": f"card_agent_1_{workspace[-6:]}",
        "call_id": call.id,
        "tool": "work",
        "caller": {"id": ALICE.principal, "name": "gateway"},
        "status": "running",
        "started_at": begun["started_at"],
        "ended_at": None,
        "arguments": "",
        "progress": "",
        "result_preview": "",
        "asks": False,
    }
    assert (half["status"], half["progress"]) == ("running", "half way")
    assert (ended["status"], ended["progress"], ended["result_preview"]) == ("ok", "half way", "")
    assert ended["ended_at"] is not None
    assert "secret" not in str([begun, half, ended])


async def test_it_is_told_that_a_call_waits_for_an_answer_until_there_is_one():
    async def work(call: Call, emit: Emit) -> Result:
        emit(Asks((Question("approve_1", "elicitation/create", {}),)))
        emit(Answered({"approve_1": "accept"}))
        return text_result("done")

    async with open_desk() as desk:
        _, follower = await desk.workspace("agent_1")
        await desk.engine.submit(call_of(agent_id="agent_1"), catalog_of(Tools(work)))
        assert [(await told(follower))["asks"] for _ in range(4)] == [False, True, False, False]


async def test_it_shows_on_every_board_where_the_agent_stands_and_nowhere_else():
    async with open_desk() as desk:
        _, first = await desk.workspace("agent_1")
        _, second = await desk.workspace("agent_2", "agent_1")
        _, other = await desk.workspace("agent_2")
        await desk.engine.submit(call_of(agent_id="agent_1"), catalog_of(Tools()))
        await desk.engine.submit(call_of(agent_id="agent_2"), catalog_of(Tools()))

        assert [(await told(first))["status"] for _ in range(2)] == ["running", "ok"]
        assert len({(await told(second))["card"] for _ in range(4)}) == 2
        assert "agent_2" in (await told(other))["card"]


async def test_how_it_ended_is_told():
    for result, status, error in (
        (failed("the words of a tool", "tool_failed"), "error", "tool_failed"),
        (failed("late", "service_timeout"), "timeout", "service_timeout"),
        (failed("no", "forbidden"), "denied", "forbidden"),
    ):
        async with open_desk() as desk:
            _, follower = await desk.workspace("agent_1")
            held = HeldTools(result)
            held.let_go.set()
            await desk.engine.submit(call_of(agent_id="agent_1"), catalog_of(held))
            await told(follower)
            ended = await told(follower)
        assert (ended["status"], ended["error"]) == (status, error)


async def test_a_cancelled_call_ends_as_that():
    async with open_desk() as desk, anyio.create_task_group() as tasks:
        _, follower = await desk.workspace("agent_1")
        held, call = HeldTools(), call_of(agent_id="agent_1")
        tasks.start_soon(desk.engine.submit, call, catalog_of(held))
        await held.started.wait()
        desk.engine.cancel(call.id, "nobody wants it")
        assert [(await told(follower))["status"] for _ in range(2)] == ["running", "cancelled"]


async def test_the_engine_is_asked_only_while_an_agent_stands_on_a_board():
    async with open_desk() as desk:
        assert desk.engine.observers == []
        workspace, _ = await desk.workspace("agent_1")
        other, _ = await desk.workspace("agent_1")
        assert len(desk.engine.observers) == 1
        await desk.workspaces.remove("alice", workspace)
        assert len(desk.engine.observers) == 1
        await desk.workspaces.edit("alice", other, lambda board: removal(board, list(board.cards)))
        assert desk.engine.observers == []
