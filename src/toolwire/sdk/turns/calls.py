"""The calls of one response, from the decision about each to their results in the conversation; it asks no model.

Calls of tools with low risk, or declared `concurrency_safe`, overlap; the others run in order. What needs a person's
word is asked for at once for the whole response, while the rest runs; results stand in the model's order (sdk.md §4.4,
§4.5). Every call that the model asked for gets exactly one result, whatever happens.
"""

import hashlib
import logging
import math
import time
from typing import Any

import anyio
import msgspec
from msgspec.structs import replace

import toolwire.sdk.payloads as p
from toolwire.core.call import Call, Caller
from toolwire.core.event import Chunk, Event, Log, Progress
from toolwire.core.handler import Emit
from toolwire.core.result import Text
from toolwire.sdk.guards import Decision
from toolwire.sdk.hosting.askers import AskingEmit
from toolwire.sdk.hosting.task import OpenCall
from toolwire.sdk.messages import ImageBlock, Message, ToolProgress, ToolResultBlock, ToolUseBlock
from toolwire.sdk.turns.mounted import POLLING_TOOLS, Mounted
from toolwire.sdk.turns.offload import shown
from toolwire.sdk.turns.outcome import Outcome, failure, outcome_of, words_of
from toolwire.sdk.turns.permission import resolve
from toolwire.sdk.turns.turn_state import JSON, Turn, clipped, fitted

LOGGER = logging.getLogger("toolwire.sdk")

CALLER = Caller(principal="local", owner="local", surface="sdk")
MAX_DETAILS_BYTES = 1024
STREAK_ROUNDS = 2
"""A call that comes again after at most so many rounds counts as repeated."""

_canonical = msgspec.json.Encoder(order="deterministic").encode


class Ready:
    """A call that may run, and what let it."""

    __slots__ = ("call", "rule", "tool")

    def __init__(self, call: OpenCall, tool: Mounted, rule: str) -> None:
        self.call = call
        self.tool = tool
        self.rule = rule


async def settle(turn: Turn) -> bool:
    """Bring the open calls to their results; false when some wait for a person's word.

    Raises:
        StoreUnavailable: a step could not be saved.

    Cancellation: calls are left as they are; whoever stops the turn records how.
    """
    task = turn.task
    ready, gated = await _decided(turn)
    if turn.agent.resolver is not None:  # a resolver that died with its process is asked again, but not a person
        gated = [call for call in task.asked if not call.verify]
    if gated and turn.agent.resolver is not None:
        await turn.host.save(task)
        async with anyio.create_task_group() as group:
            group.start_soon(_run_all, turn, ready)
            for call in gated:
                group.start_soon(_ask_resolver, turn, call)
        ready = _approved(turn)
        if ready:
            task.record(p.StepTransitionMarked("approval_resume"))
    await _run_all(turn, ready)
    if task.asked:
        return False
    _conclude(turn)
    return True


def _approved(turn: Turn) -> list[Ready]:
    ready: list[Ready] = []
    for call in turn.task.calls.values():
        if call.state == "approved":
            tool = turn.mounts.get(call.use.tool_name)
            if tool is None:
                _deny(
                    turn, call, Decision("deny", "unknown_tool", f"tool {call.use.tool_name!r} is not there any more")
                )
            else:
                ready.append(Ready(call, tool, "approval"))
    return ready


async def _decided(turn: Turn) -> tuple[list[Ready], list[OpenCall]]:
    """Decide about each new call; the approved ones of before are ready, too."""
    ready = _approved(turn)
    gated: list[OpenCall] = []
    for call in list(turn.task.calls.values()):
        if call.state != "new":
            continue
        tool = turn.mounts.get(call.use.tool_name)
        decision = _within_budget(turn, len(ready) + len(gated))
        if decision is None:
            decision = await turn.agent.permission.decide(call.use, tool, turn.mode, turn.guard_context)
        if decision.verdict == "deny" or tool is None:
            _deny(turn, call, decision)
        elif decision.verdict == "ask":
            _request_approval(turn, call, decision)
            gated.append(call)
        else:
            ready.append(Ready(call, tool, decision.rule))
    return ready, gated


def _within_budget(turn: Turn, coming: int) -> Decision | None:
    most = turn.agent.budget.max_tool_calls
    if most is None or turn.task.turn.tool_calls + coming < most:
        return None
    turn.spent = f"max_tool_calls={most}"
    return Decision("deny", "budget", f"the budget of {most} tool calls for this turn is used up")


def _deny(turn: Turn, call: OpenCall, decision: Decision) -> None:
    use = call.use
    name = clipped(str(use.tool_name), 200)
    turn.task.record(p.ToolCallDenied(use.call_id, name, clipped(decision.reason or "denied"), decision.rule))


def _request_approval(turn: Turn, call: OpenCall, decision: Decision) -> None:
    arguments, ref = fitted(call.arguments, turn)
    ttl = turn.host.config.approval_ttl_s
    expires_at = None if ttl is None else time.time() + ttl
    name, reason = call.use.tool_name, clipped(decision.reason)
    turn.task.record(
        p.ToolCallApprovalRequested(call.use.call_id, name, arguments, ref, reason, decision.rule, expires_at)
    )


async def _ask_resolver(turn: Turn, call: OpenCall) -> None:
    resolver = turn.agent.resolver
    if resolver is None:
        return
    use = ToolUseBlock(call.use.call_id, call.use.tool_name, call.arguments)
    approved, reason = await resolve(resolver, use)
    reason = None if reason is None else clipped(reason)
    turn.task.record(p.ToolCallApprovalResolved(use.call_id, use.tool_name, approved, reason, "can_use_tool"))


async def _run_all(turn: Turn, ready: list[Ready]) -> None:
    """Run in the model's order, neighbours that may overlap at once."""
    position = 0
    while position < len(ready):
        end = position + 1
        if ready[position].tool.overlaps:
            while end < len(ready) and ready[end].tool.overlaps:
                end += 1
        group = ready[position:end]
        for one in group:
            _record_start(turn, one)
        await turn.host.save(turn.task)
        if len(group) == 1:
            _record_result(turn, group[0], await _outcome(turn, group[0]))
        else:
            await _overlapping(turn, group)
        position = end


async def _overlapping(turn: Turn, group: list[Ready]) -> None:
    limiter = anyio.Semaphore(turn.host.config.max_parallel_calls)

    async def one_of(one: Ready) -> None:
        async with limiter:
            outcome = await _outcome(turn, one)
        _record_result(turn, one, outcome)
        await turn.host.save(turn.task)

    async with anyio.create_task_group() as tasks:
        for one in group:
            tasks.start_soon(one_of, one)


def _record_start(turn: Turn, one: Ready) -> None:
    call = one.call
    arguments, ref = fitted(call.arguments, turn)
    started = p.ToolCallStarted(call.use.call_id, one.tool.name, arguments, ref, one.rule)
    turn.task.record(started, "tool_runtime", "tool")


async def _outcome(turn: Turn, one: Ready) -> Outcome:
    """What the call comes to; raises nothing but cancellation."""
    tool = one.tool
    timeout_s = tool.timeout_s if tool.timeout_s is not None else turn.host.config.tool_timeout_s
    deadline = math.inf if timeout_s is None else time.time() + timeout_s
    use, emit = one.call.use, _emitter(turn, one.call.use)
    asker = turn.host.askers.of_call(turn.task.id, tool.name)
    call = Call(use.call_id, CALLER, tool.name, one.call.arguments, deadline, parent=turn.task.id)
    if asker is not None:
        emit, call = AskingEmit(emit, asker), replace(call, client_capabilities=asker.can)
    try:
        if timeout_s is None:
            return outcome_of(await tool.handler(call, emit))
        with anyio.move_on_after(timeout_s):
            return outcome_of(await tool.handler(call, emit))
        return failure(f"tool {tool.name!r} took longer than {timeout_s:g} s and was stopped; its outcome is unknown")
    except Exception as error:
        LOGGER.exception("the handler of %r raised in call %s", tool.name, use.call_id)
        return failure(f"tool {tool.name!r} raised {words_of(error)}")


def _emitter(turn: Turn, use: ToolUseBlock) -> Emit:
    """Progress and log lines go to whoever listens now; they are not recorded."""
    if not turn.host.delta_sinks:
        return _nowhere

    def emit(event: Event) -> None:
        name = use.tool_name
        match event:
            case Progress():
                told = ToolProgress(use.call_id, name, event.message or "", event.progress, event.total)
            case Log():
                told = ToolProgress(use.call_id, name, event.text, level=event.level)
            case Chunk(content=Text(text=text)):
                told = ToolProgress(use.call_id, name, text)
            case _:
                return
        turn.host.tell_delta(turn.task.id, told)

    return emit


def _nowhere(_event: Event) -> None:
    pass


def _record_result(turn: Turn, one: Ready, outcome: Outcome) -> None:
    """Record what came of a call, and make the block that the model will read."""
    contents = turn.host.contents
    call, call_id = one.call, one.call.use.call_id
    ref = contents.put(outcome.body, outcome.media_type)
    output, cut = shown(outcome, ref, turn.host.config.tool_output_inline_limit)
    if outcome.success or outcome.output is not None:
        images = [ImageBlock(picture) for picture in outcome.images] or None
        block = ToolResultBlock(call_id, output, outcome.success, outcome.reason, images)
    else:
        block = ToolResultBlock(call_id, "", False, outcome.reason)
    block_ref = contents.put(msgspec.json.encode(block), JSON) if len(turn.task.calls) > 1 else None
    artifacts, effects, details_ref = _details(turn, outcome)
    summary = clipped(outcome.summary)
    turn.task.record(
        p.ToolResultRecorded(
            call_id,
            outcome.success,
            ref,
            summary,
            artifacts,
            effects,
            block_ref=block_ref,
            cut=cut,
            details_ref=details_ref,
        ),
        "tool_runtime",
        "tool",
    )
    call.block = block
    turn.task.record(p.ToolCallFinished(call_id), "tool_runtime", "tool")
    _count_repetition(turn, one, outcome)


def _details(turn: Turn, outcome: Outcome) -> tuple[list[Any], list[Any], Any]:
    """Artifacts and side effects as they stand in the payload, and where they stand if they are too long for it."""
    artifacts, effects = list(outcome.artifacts), list(outcome.side_effects)
    if not (artifacts or effects or outcome.traceback or outcome.file_changes):
        return artifacts, effects, None
    body = msgspec.json.encode(
        {
            "artifacts": artifacts,
            "side_effects": effects,
            "traceback": outcome.traceback,
            "file_changes": outcome.file_changes,
        }
    )
    if len(body) > MAX_DETAILS_BYTES:
        return [], [], turn.host.contents.put(body, JSON)
    kept = outcome.traceback or outcome.file_changes
    return artifacts, effects, turn.host.contents.put(body, JSON) if kept else None


def _conclude(turn: Turn) -> None:
    """All calls have their results: put them into the conversation, in the model's order."""
    task = turn.task
    blocks = [call.block for call in task.calls.values() if call.block is not None]
    verify = [call.use.tool_name for call in task.calls.values() if call.verify]
    if blocks:
        task.say([Message("tool", list(blocks))], turn.host.contents)
    if verify:
        turn.notice(f"{', '.join(verify)} was interrupted once before; check what it did.", "system")
    task.round += 1
    _warn_of_repetition(turn)
    turn.see_cut_outputs()


def _count_repetition(turn: Turn, one: Ready, outcome: Outcome) -> None:
    if turn.host.config.repetition_limit is None or one.tool.name in POLLING_TOOLS:
        return
    digest = hashlib.sha256(_canonical([one.tool.name, one.call.arguments]))
    digest.update(outcome.body + (outcome.reason or "").encode(errors="replace"))
    key = digest.digest()
    count, last = turn.task.streaks.get(key, (0, -1))
    fresh = last < 0 or turn.task.round - last > STREAK_ROUNDS
    turn.task.streaks[key] = (1 if fresh else count + 1, turn.task.round)


def _warn_of_repetition(turn: Turn) -> None:
    """Tell the model that it goes in circles, and note when it has done so too often."""
    config, streaks = turn.host.config, turn.task.streaks
    for key in [key for key, (_, last) in streaks.items() if turn.task.round - last > STREAK_ROUNDS + 1]:
        del streaks[key]
    most = max((count for count, last in streaks.values() if last == turn.task.round - 1), default=0)
    if config.repetition_limit is not None and most >= config.repetition_limit:
        turn.spent = "repetition"
    elif most >= config.repetition_warning:
        turn.notice(
            f"The same call with the same arguments has given the same result {most} times. "
            "Do something else, or give your answer.",
            "repetition",
        )
