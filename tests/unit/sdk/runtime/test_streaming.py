"""What listeners are told ahead of the events: parts of answers, progress of tools (sdk.md §4.5)."""

from typing import Any

from tests.unit.sdk.runtime.script import agent, model, raw, say, use
from toolwire.sdk import AsyncClient, HostConfig, TextDelta, ToolProgress, query


async def test_deltas_come_before_the_answer_and_end_with_the_subscription():
    told: list[tuple[str, Any]] = []
    async with AsyncClient(agent(), provider=model(say("one two three"), say("four five"))) as client:
        unsubscribe = client.subscribe_deltas(lambda task_id, delta: told.append((task_id, delta)))
        outcome = await client.start(goal="go")
        unsubscribe()
        await client.send_goal(outcome.task_id, goal="more")

    assert told == [(outcome.task_id, TextDelta(piece)) for piece in ("one ", "two ", "three")]


def test_a_tools_progress_and_log_are_told_and_a_listener_that_raises_harms_nobody():
    told: list[Any] = []

    def body(_arguments: Any, ctx: Any) -> str:
        ctx.progress("half", 1, 2)
        ctx.log.info("looking")
        return "ok"

    def sink(task_id: str, delta: Any) -> None:
        told.append(delta)
        raise RuntimeError("no")

    result = query(
        agent(raw("work", body)),
        goal="go",
        provider=model(use(("t1", "work", {})), say("x")),
        host_config=HostConfig(delta_sink=sink),
    )

    assert result.answer() == "x"
    assert told == [
        ToolProgress("t1", "work", "half", 1, 2),
        ToolProgress("t1", "work", "looking", level="info"),
        TextDelta("x"),
    ]
