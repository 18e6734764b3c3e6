"""pydantic-ai, with its `FunctionModel` as the scripted model; it has no storage of its own."""
# It lives in its own environment, where no type checker of this project looks.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

import asyncio
import time
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import UsageLimits

from benchmarks.agents.subjects.timing import SLEEP_S, Plan, blocks, echo_rounds, hand_in, rate, since_ms


def echo(i: int) -> dict[str, Any]:
    """Echo."""
    return {"echo": {"i": i}}


def slow(i: int) -> str:
    """Sleep."""
    time.sleep(SLEEP_S)
    return "slept"


def _call(number: int, tool: str = "echo") -> Any:
    return ToolCallPart(tool_name=tool, args={"i": number}, tool_call_id=f"c{number}")


def _text() -> Any:
    return [TextPart("Done.")]


def _agent(steps: list[Any]) -> Any:
    left = iter(steps)
    model = FunctionModel(lambda messages, info: ModelResponse(parts=next(left)))
    return Agent(model, instructions="You are a test agent.", tools=[echo, slow])


async def _run(steps: list[Any]) -> None:
    answered = await _agent(steps).run("go", usage_limits=UsageLimits(request_limit=None))
    if answered.output != "Done.":
        raise RuntimeError(f"a run answered {answered.output!r}")


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
    history: list[Any] = []
    found: dict[str, float] = {}
    for name, turns in blocks(plan.count):
        began = time.perf_counter()
        for _ in range(turns):
            history = (await talker.run("next", message_history=history)).all_messages()
        found[name] = rate(turns, began)
    return found


if __name__ == "__main__":
    hand_in(lambda plan: asyncio.run(_measured(plan)))
