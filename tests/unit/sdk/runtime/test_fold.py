"""A task read back from its events is the task that was left, and no request has a call without its result."""

from typing import Any

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.sdk.runtime.script import agent, noting, raw, say, unpaired, use
from toolwire.sdk import AsyncClient, BudgetSpec, HostConfig, NotResumableError
from toolwire.sdk.hosting.task import Task, fold
from toolwire.sdk.testing import FakeLLMProvider

LONG = "x" * 5000
KINDS = st.sampled_from(["look", "act", "nope", "fail", "dump", "long"])
ROUNDS = st.lists(st.lists(KINDS, max_size=4), max_size=5)
STEPS = st.lists(st.sampled_from(["goal", "approve", "deny", "approve_all", "interrupt", "cancel"]), max_size=6)

TOOLS = (
    noting("look", []),
    noting("act", [], "high"),
    raw("fail", lambda _a, _c: 1 / 0),
    raw("dump", lambda _a, _c: "d" * 3000),
    raw("long", lambda a, _c: a),
)


def state(task: Task) -> dict[str, Any]:
    """All of a task that decides how it goes on."""
    return {
        "messages": task.messages,
        "status": (task.status, task.wake_handle, task.rest, task.answer, task.failure, task.closed),
        "usage": task.usage,
        "turn": (task.turn.requests, task.turn.tool_calls),
        "calls": {
            call_id: (call.state, call.arguments, call.block, call.asked) for call_id, call in task.calls.items()
        },
        "cut": task.cut,
        "seq": task.next_seq,
        "options": task.options,
    }


async def take(client: AsyncClient, task_id: str, step: str) -> None:
    try:
        if step == "goal":
            await client.send_goal(task_id, goal="next" + LONG, effort="low")
        elif step == "approve":
            await client.approve(task_id, arguments={"edited": LONG})
        else:
            await getattr(client, step)(task_id)
    except NotResumableError:
        return


@given(rounds=ROUNDS, steps=STEPS)
@settings(max_examples=60)
def test_whatever_happens_a_task_read_back_is_the_one_that_was_left(rounds: list[list[str]], steps: list[str]):
    left = list(reversed(rounds))
    alone: set[str] = set()

    def respond(request: Any) -> Any:
        kinds = left.pop() if left else []
        alone.update(unpaired(request))
        calls = ((f"c{n}", kind, {"n": n, "text": LONG if kind == "long" else ""}) for n, kind in enumerate(kinds))
        return use(*calls) if kinds else say("done" + LONG)

    async def conversation() -> None:
        options = agent(*TOOLS, budget=BudgetSpec(max_tool_calls=9))
        config = HostConfig(tool_output_inline_limit=1000)
        async with AsyncClient(options, provider=FakeLLMProvider(responder=respond), host_config=config) as client:
            outcome = await client.start(goal="go" + LONG, permission_mode="acceptEdits")
            for step in steps:
                await take(client, outcome.task_id, step)
            host = client._runner.host  # pyright: ignore[reportPrivateUsage] -- the live task is what is compared
            live = await host.find(outcome.task_id)
            assert live.resting
            again = Task(live.id, live.trace_id)
            await fold(again, list(live.events), host.contents)
            assert state(again) == state(live)
            assert alone == set()

    anyio.run(conversation)
