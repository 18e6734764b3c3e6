"""Asking the model once, with retries, and recording what it said; it does not act on the answer."""

import functools
import inspect
import logging
import threading
import time
from collections.abc import Callable
from typing import Any, cast

import anyio
import msgspec

import toolwire.sdk.payloads as p
from toolwire.sdk.authoring.threads import BodyThreads
from toolwire.sdk.content import ContentRef
from toolwire.sdk.encode import Unencodable, clean_text, plain
from toolwire.sdk.errors import ProviderError
from toolwire.sdk.hosting.task import encode_messages
from toolwire.sdk.messages import (
    Block,
    Delta,
    History,
    ImageBlock,
    LLMRequest,
    LLMResponse,
    Message,
    Provider,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    Usage,
)
from toolwire.sdk.turns.outcome import words_of
from toolwire.sdk.turns.turn_state import JSON, Turn, clipped

LOGGER = logging.getLogger("toolwire.sdk")

FIRST_RETRY_S = 0.5
MAX_RETRY_S = 30.0
PATIENCE_S = 0.001
"""A model that answers sooner spares the store a transaction."""

_THREADS = BodyThreads("model", 256)
"""Where synchronous providers wait for their models."""


class NoAnswer(Exception):
    """The model did not answer, for good: `reason` is what `TaskFailed` says."""

    def __init__(self, reason: str, detail: str, retryable: bool = False) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.retryable = retryable


async def ask(turn: Turn) -> LLMResponse:
    """Ask the model and take its answer into the conversation.

    Raises:
        NoAnswer: it gave none that can be used; all there was is recorded.
        StoreUnavailable: the step before could not be saved.

    Cancellation: the request is left; whoever stops the turn records that it has no answer.
    """
    task = turn.task
    call_id = f"llm-{task.id.removeprefix('task-')}-{task.next_seq}"
    request = _request(turn)
    manifest = turn.host.contents.put(_manifest(turn, request), JSON)
    task.record(p.ContextPlanComposed(manifest))
    task.record(p.LLMRequestStarted(call_id, request.model, manifest), "llm", "llm")
    await _load_images(turn, request)
    started = time.monotonic()
    answer = await _answered(turn, request, call_id)
    latency_ms = int((time.monotonic() - started) * 1000)
    if isinstance(answer, NoAnswer):
        _record_end(turn, call_id, "error", None, (Usage(), latency_ms))
        raise answer
    usage = _priced(turn, request.model, answer.usage)
    body = _encoded(answer)
    if body is None:
        answer = _clean(answer)
        body = encode_messages([_message(answer)])
    ref = turn.host.contents.put(body, JSON)
    _record_end(turn, call_id, answer.stop_reason, ref, (usage, latency_ms))
    if answer.content:
        task.say([_message(answer)], turn.host.contents, ref)
    return answer


def _record_end(turn: Turn, call_id: str, stop: str, ref: ContentRef | None, spent: tuple[Usage, int]) -> None:
    usage, latency_ms = spent
    ref = ref or turn.host.contents.put(b"[]", JSON)
    success = stop in ("tool_use", "end_turn", "max_tokens")
    turn.task.record(p.LLMResponseRecorded(call_id, ref, stop, usage.output), "llm", "llm")
    finished = p.LLMRequestFinished(call_id, success, usage.cost_usd or 0.0, latency_ms, usage)
    turn.task.record(finished, "llm", "llm")


def _request(turn: Turn) -> LLMRequest:
    options = turn.agent.options
    return LLMRequest(
        model=turn.model,
        messages=History(turn.task.messages),
        tools=turn.mounts.entries,
        system=options.system_prompt,
        temperature=options.temperature,
        max_tokens=options.max_tokens,
        metadata={**options.metadata, "task_id": turn.task.id},
        output_schema=None if options.output_schema is None else dict(options.output_schema),
        thinking=options.thinking,
        effort=turn.options.effort or options.effort,
        load=turn.host.contents.get,
    )


def _manifest(turn: Turn, request: LLMRequest) -> bytes:
    """What the request was made of; it does not grow with the conversation, whose messages have their own events."""
    if not turn.system_ref:
        turn.system_ref = turn.host.contents.put((request.system or "").encode(errors="replace"), "text/plain").hash
    return msgspec.json.encode(
        {
            "model": request.model,
            "system": turn.system_ref,
            "tools": [entry["function"]["name"] for entry in request.tools],
            "agent": turn.agent.digest,
            "messages": len(request.messages),
            "effort": request.effort,
            "thinking": request.thinking,
        }
    )


async def _load_images(turn: Turn, request: LLMRequest) -> None:
    """Have the pictures of the last messages at hand, so that a provider on this loop can read them."""
    for message in request.messages[-8:]:
        for block in message.content:
            pictures = [block] if isinstance(block, ImageBlock) else []
            if isinstance(block, ToolResultBlock) and block.images:
                pictures = block.images
            for picture in pictures:
                await turn.host.contents.load(picture.source.hash)


async def _answered(turn: Turn, request: LLMRequest, call_id: str) -> LLMResponse | NoAnswer:
    """Ask until there is an answer, or asking again is no use. What a provider has asked again by itself counts."""
    retries, attempts = turn.host.config.llm_max_retries, 0
    while True:
        listener = _Listener(turn)
        try:
            answer = await _saved_meanwhile(turn, request, listener)
        finally:
            listener.closed = True
        if isinstance(answer, LLMResponse):
            return answer if answer.content or answer.stop_reason == "error" else _empty()
        retryable = isinstance(answer, Exception) and getattr(answer, "retryable", False) is True
        attempts += getattr(answer, "attempts", 1)
        detail = clipped(_words(answer))
        if not retryable or attempts > retries or listener.told:  # parts that were told cannot be taken back
            return NoAnswer("llm_error", detail, retryable)
        delay, task = _delay(answer, attempts), turn.task
        category = type(answer).__name__
        task.record(p.LLMRetryScheduled(call_id, attempts, retries, delay, category, detail), "llm", "llm")
        await turn.host.save(task)
        await anyio.sleep(delay)


def _empty() -> NoAnswer:
    return NoAnswer("llm_empty_response", "the model answered nothing", retryable=True)


def _delay(error: object, attempt: int) -> float:
    asked = error.retry_after_s if isinstance(error, ProviderError) else None
    return min(MAX_RETRY_S, asked if asked is not None else FIRST_RETRY_S * 2 ** (attempt - 1))


def _words(error: object) -> str:
    if isinstance(error, (ProviderError, IndexError)):
        return clean_text(str(error))
    if isinstance(error, BaseException):
        return words_of(error)
    return f"the provider returned {type(error).__name__}, not an LLMResponse"


async def _saved_meanwhile(turn: Turn, request: LLMRequest, listener: "_Listener") -> object:
    """Ask while the step before is being saved: asking does no harm that would have to be remembered first."""
    if turn.host.store is None:
        await turn.host.save(turn.task)
        return await _asked(turn, request, listener)
    answer: object = None
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_save_soon, turn)
            answer = await _asked(turn, request, listener)
            group.cancel_scope.cancel()
    except BaseExceptionGroup as errors:  # saving is all that can raise here
        raise cast("BaseException", errors.exceptions[0]) from None
    return answer


async def _save_soon(turn: Turn) -> None:
    """Save the step that led here, unless the model is quicker: then it is saved with the next one."""
    await anyio.sleep(PATIENCE_S)
    await turn.host.save(turn.task)


async def _asked(turn: Turn, request: LLMRequest, listener: "_Listener") -> object:
    """The provider's answer, or what it raised; whatever its class does, nothing but cancellation is raised."""
    try:
        return _checked(await _called_for(turn, request, listener))
    except Exception as error:
        if not isinstance(error, ProviderError):
            LOGGER.warning("the provider raised", exc_info=error)
        return error


async def complete(provider: Provider, request: LLMRequest) -> LLMResponse:
    """Ask a model on the side, outside any task.

    Raises:
        ProviderError: it gave no answer; other exceptions of the provider come through.
    """
    answer = _checked(await _called(provider, provider.complete, functools.partial(provider.complete, request)))
    if not isinstance(answer, LLMResponse):
        raise ProviderError(_words(answer))
    return answer


async def _called_for(turn: Turn, request: LLMRequest, listener: "_Listener") -> Any:
    provider: Any = turn.agent.provider
    if turn.host.delta_sinks and callable(getattr(provider, "stream", None)):
        ask_it = functools.partial(provider.stream, request, listener.tell)
        return await _called(provider, provider.stream, ask_it)
    return await _called(provider, provider.complete, functools.partial(provider.complete, request))


async def _called(provider: Provider, method: Any, ask_it: Callable[[], Any]) -> Any:
    """Call a provider where it belongs: on the loop if it does not block, on a thread otherwise."""
    if inspect.iscoroutinefunction(method):
        return await ask_it()
    if getattr(provider, "inline", False) is True:
        await anyio.lowlevel.checkpoint()
        said = ask_it()
    else:
        said, error = await _THREADS.run(ask_it)
        if error is not None:
            raise error if isinstance(error, Exception) else ProviderError(f"{type(error).__name__}: {error}")
    return await said if hasattr(said, "__await__") else said


class _Listener:
    """Passes a provider's deltas on, from whatever thread they come, until the request is over."""

    def __init__(self, turn: Turn) -> None:
        self.told = False
        self.closed = False
        self._turn = turn
        self._thread = threading.get_ident()
        self._loop = anyio.lowlevel.current_token()

    def tell(self, delta: Delta) -> None:
        """Tell whoever listens to the task."""
        if threading.get_ident() == self._thread:
            self._tell(delta)
        elif not self.closed:
            anyio.from_thread.run_sync(self._tell, delta, token=self._loop)

    def _tell(self, delta: Delta) -> None:
        if not self.closed:
            self.told = True
            self._turn.host.tell_delta(self._turn.task.id, delta)


def _checked(answer: Any) -> Any:
    """The answer with nothing in it that the runtime does not know; what is no answer at all comes back as it is."""
    if not isinstance(answer, LLMResponse):
        return answer
    stop = answer.stop_reason if answer.stop_reason in ("tool_use", "end_turn", "max_tokens") else "error"
    content: list[Block] = []
    seen: set[str] = set()
    for number, block in enumerate(answer.content):
        match block:
            case ToolUseBlock():
                content.append(_checked_use(block, number, seen))
            case TextBlock():
                content.append(block if type(block.text) is str else TextBlock(str(block.text)))
            case ThinkingBlock() | ImageBlock():
                content.append(block)
            case _:
                LOGGER.warning("the provider's answer has a %s in it, which is left out", type(block).__name__)
    usage = answer.usage if isinstance(answer.usage, Usage) else Usage()  # pyright: ignore[reportUnnecessaryIsInstance] -- a provider's author may err
    return LLMResponse(stop, content, usage)


def _checked_use(block: ToolUseBlock, number: int, seen: set[str]) -> ToolUseBlock:
    """The call under an id that no other of the response has."""
    wanted: Any = block.call_id
    call_id = wanted if type(wanted) is str and wanted else f"call-{number}"
    call_id = call_id if call_id not in seen else f"{call_id}-{number}"
    seen.add(call_id)
    if call_id is block.call_id and type(block.tool_name) is str:
        return block
    return ToolUseBlock(call_id, str(block.tool_name), block.arguments)


def _message(answer: LLMResponse) -> Message:
    return Message("assistant", answer.content)


def _encoded(answer: LLMResponse) -> bytes | None:
    try:
        return encode_messages([_message(answer)])
    except (TypeError, ValueError, RecursionError):
        return None


def _clean(answer: LLMResponse) -> LLMResponse:
    """The answer with what has no JSON form written out, so that it can be recorded and refused."""
    content: list[Block] = []
    for block in answer.content:
        match block:
            case TextBlock():
                content.append(TextBlock(clean_text(str(block.text))))
            case ThinkingBlock():
                content.append(ThinkingBlock(clean_text(str(block.text))))
            case ToolUseBlock():
                content.append(ToolUseBlock(block.call_id, str(block.tool_name), _plain(block.arguments)))
            case _:
                pass
    return LLMResponse(answer.stop_reason, content, answer.usage)


def _plain(value: Any) -> Any:
    try:
        return plain(value, "arguments")
    except (Unencodable, RecursionError):
        return f"a {type(value).__name__} that has no JSON form"


def _priced(turn: Turn, model: str, usage: Usage) -> Usage:
    """The usage with what it cost, where the provider knows prices."""
    price = getattr(turn.agent.provider, "cost_usd", None)
    if usage.cost_usd is not None or not callable(price):
        return usage
    try:
        cost: Any = price(model, usage)
    except Exception:
        LOGGER.exception("the provider could not price %r", model)
        return usage
    return usage if not isinstance(cost, (int, float)) else msgspec.structs.replace(usage, cost_usd=float(cost))
