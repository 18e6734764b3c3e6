"""The rounds of a turn: ask the model, run its calls, until there is an answer or an end; it opens and saves nothing.

`drive` is the one way in, whether a goal was given, an approval came or a task was found after a crash. It always ends
with the task at rest: what goes wrong on the way is recorded as the reason.
"""

import logging
from typing import Any, cast

import anyio
import msgspec

import toolwire.sdk.payloads as p
from toolwire.core.errors import StoreUnavailable
from toolwire.sdk.hosting.task import Stop
from toolwire.sdk.messages import LLMResponse, Message, TextBlock
from toolwire.sdk.turns.calls import settle
from toolwire.sdk.turns.endings import answer_with, close_request, fail, stop_turn, wait_for_approval
from toolwire.sdk.turns.model_call import NoAnswer, ask
from toolwire.sdk.turns.outcome import words_of
from toolwire.sdk.turns.remote_turn import mount_remote
from toolwire.sdk.turns.turn_state import Turn

LOGGER = logging.getLogger("toolwire.sdk")

MAX_CORRECTIONS = 1


async def drive(turn: Turn) -> None:
    """Work on the task until it rests; its last events are saved.

    Raises:
        StoreUnavailable: a step could not be saved; the task is as it was before that step.

    Cancellation: the turn is recorded as interrupted, then the cancellation goes on.
    """
    task = turn.task
    scope = task.scope = anyio.CancelScope()
    try:
        with scope:
            if task.stop is not None:
                scope.cancel()
            await _rounds(turn)
    except Exception as raised:
        error = _innermost(raised)
        if isinstance(error, StoreUnavailable):
            raise error from None
        LOGGER.exception("task %s failed inside the runtime", task.id)
        _failed_inside(turn, error)
    except BaseException:
        await _stopped(turn, Stop(final=False, reason="the caller was cancelled", by="runtime"))
        raise
    finally:
        task.scope = None
    if scope.cancelled_caught and not task.resting:
        await _stopped(turn, task.stop or Stop(final=False, reason=None))
    task.stop = None
    await turn.host.save(task)


def _failed_inside(turn: Turn, error: BaseException) -> None:
    """End the task after a mistake of ours, even if the orderly way of ending it is where the mistake is."""
    detail = words_of(error)
    try:
        close_request(turn)
        fail(turn, "internal_error", detail)
    except Exception:
        LOGGER.exception("task %s could not be ended in order", turn.task.id)
        turn.task.calls.clear()
        turn.task.record(p.TaskFailed("internal_error", detail=detail[:200]))


def _innermost(error: BaseException) -> BaseException:
    """What went wrong first, out of the groups in which task groups report it."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


async def _stopped(turn: Turn, stop: Stop) -> None:
    with anyio.CancelScope(shield=True):
        if not turn.task.resting:
            stop_turn(turn, stop)
        await turn.host.save(turn.task)


async def _rounds(turn: Turn) -> None:
    if turn.remote is not None:
        try:
            await mount_remote(turn, turn.remote)
        except ValueError as error:
            fail(turn, "mcp_config", str(error))
            return
    turn.see_cut_outputs()
    while await _goes_on(turn):
        pass


async def _goes_on(turn: Turn) -> bool:
    """One round; false when the task rests after it."""
    if turn.task.calls:
        if not await settle(turn):
            wait_for_approval(turn)
            return False
        if turn.spent is not None:
            fail(turn, *_spent(turn.spent))
            return False
    over = _over_budget(turn)
    if over is not None:
        fail(turn, *over)
        return False
    try:
        response = await ask(turn)
    except NoAnswer as error:
        fail(turn, error.reason, error.detail, error.retryable)
        return False
    if turn.task.calls and response.stop_reason in ("tool_use", "end_turn"):
        return True
    return not await _concluded(turn, response)


def _spent(what: str) -> tuple[str, str]:
    if what == "repetition":
        return "repetition", "the same call gave the same result too often"
    return "budget", f"{what} is used up"


def _over_budget(turn: Turn) -> tuple[str, str] | None:
    count, budget = turn.task.turn, turn.agent.budget
    if turn.agent.max_requests is not None:
        most, name = turn.agent.max_requests
        if count.requests >= most:
            return ("max_turns" if name == "max_turns" else "budget"), f"{name}={most} is used up"
    if budget.max_cost_usd is not None and count.cost_usd >= budget.max_cost_usd and count.requests:
        return "budget", f"max_cost_usd={budget.max_cost_usd:g} is used up"
    return None


async def _concluded(turn: Turn, response: LLMResponse) -> bool:
    """End the turn with this response, or false when the model gets another chance."""
    if response.stop_reason == "max_tokens":
        fail(turn, "llm_truncated", "the answer reached the model's limit of tokens", retryable=True)
        return True
    if response.stop_reason not in ("end_turn", "tool_use"):
        words = "".join(block.text for block in response.content if isinstance(block, TextBlock))
        fail(turn, "llm_error", words or "the model ended with an error")
        return True
    text = _answer_text(turn)
    answer, wrong = _fit(turn, text)
    if wrong is not None:
        return not _corrected(turn, wrong)
    decision = await turn.agent.permission.finish(answer, turn.guard_context())
    if decision.verdict != "allow":
        fail(turn, f"finish denied: {decision.reason}")
        return True
    answer_with(turn, answer)
    return True


def _answer_text(turn: Turn) -> str:
    last = turn.task.messages[-1]
    return last.text if last.role == "assistant" else ""


def _fit(turn: Turn, text: str) -> tuple[Any, str | None]:
    """The answer as `output_schema` wants it, and what is wrong with it otherwise."""
    schema = turn.agent.options.output_schema
    if schema is None:
        return text, None
    try:
        answer = msgspec.json.decode(_without_fence(text))
    except msgspec.DecodeError as error:
        return None, f"the answer is not JSON: {error}"
    if turn.validator is None:
        from toolwire.providers.schema import compile_validator  # noqa: PLC0415 -- loads jsonschema_rs when needed

        turn.validator = compile_validator(dict(schema))
    violations = turn.validator.check(answer)
    if violations:
        return None, "; ".join(f"{found.path or '/'}: {found.message}" for found in violations[:5])
    return answer, None


def _without_fence(text: str) -> str:
    """JSON that a model has put between code fences all the same."""
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```") and "\n" in stripped:
        return stripped[stripped.index("\n") + 1 : -3]
    return stripped


def _corrected(turn: Turn, wrong: str) -> bool:
    """Ask for a better answer once; false when that was done before."""
    task = turn.task
    if task.turn.corrections >= MAX_CORRECTIONS:
        fail(turn, "output_schema", wrong)
        return False
    task.record(p.StepTransitionMarked("output_correction", task.turn.corrections + 1))
    words = f"Your answer does not fit the output schema: {wrong}\nAnswer again with nothing but JSON that fits."
    task.say([Message("user", [TextBlock(words)], "output_schema")], turn.host.contents)
    return True
