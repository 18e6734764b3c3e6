"""openai-agents, with its own scripted model; conversations on SQLite are its `SQLiteSession`."""

import asyncio
import importlib
import json
import time
from typing import Any

from benchmarks.agents.subjects.timing import SLEEP_S, Plan, blocks, echo_rounds, hand_in, rate, since_ms

agents: Any = importlib.import_module("agents")  # in its own environment, where no type checker of this project looks
testing: Any = importlib.import_module("agents.testing")

MAX_TURNS = 10_000


def echo(i: int) -> dict[str, Any]:
    """Echo."""
    return {"echo": {"i": i}}


def slow(i: int) -> str:
    """Sleep."""
    time.sleep(SLEEP_S)
    return "slept"


agents.set_tracing_disabled(True)
TOOLS = [agents.function_tool(echo), agents.function_tool(slow)]


def _call(number: int, tool: str = "echo") -> Any:
    return testing.function_call(tool, json.dumps({"i": number}), call_id=f"c{number}")


def _agent(steps: list[Any]) -> Any:
    return agents.Agent(
        name="bench", instructions="You are a test agent.", tools=TOOLS, model=testing.ScriptedModel(steps)
    )


async def _run(steps: list[Any]) -> None:
    answered = await agents.Runner.run(_agent(steps), "go", max_turns=MAX_TURNS)
    if answered.final_output != "Done.":
        raise RuntimeError(f"a run answered {answered.final_output!r}")


def _text() -> Any:
    return [testing.assistant_message("Done.")]


async def _measured(plan: Plan) -> dict[str, float]:
    await _run([[_call(0)], _text()])
    match plan.scenario:
        case "query":
            began = time.perf_counter()
            for number in range(plan.count):
                await _run([[_call(number)], _text()])
            return {"per_s": rate(plan.count, began)}
        case "chat":
            return await _chat(plan)
        case "loop":
            began = time.perf_counter()
            await _run([*([_call(number)] for number in range(plan.count)), _text()])
            return {"ms": since_ms(began) / plan.count}
        case "slow":
            began = time.perf_counter()
            await _run([[_call(number, "slow") for number in range(plan.count)], _text()])
            return {"ms": since_ms(began)}
        case unknown:
            raise ValueError(f"{unknown!r} is not measured here")


async def _chat(plan: Plan) -> dict[str, float]:
    talker = _agent(echo_rounds(range(plan.count), lambda number: [_call(number)], _text))
    session = agents.SQLiteSession("bench", plan.storage) if plan.storage else None
    items: list[Any] = []
    found: dict[str, float] = {}
    for name, turns in blocks(plan.count):
        began = time.perf_counter()
        for _ in range(turns):
            if session is not None:
                await agents.Runner.run(talker, "next", session=session)
            else:
                items.append({"role": "user", "content": "next"})
                items = (await agents.Runner.run(talker, items)).to_input_list()
        found[name] = rate(turns, began)
    return found


if __name__ == "__main__":
    hand_in(lambda plan: asyncio.run(_measured(plan)))
