"""What becomes of a call, whatever the body does (sdk.md 17-19, §3.1-2, §3.11-12, §3.15, §4.2)."""

import contextvars
import logging
import threading
from collections.abc import Awaitable
from typing import Any, NoReturn

import anyio
import anyio.lowlevel
import pytest

from tests.unit.sdk.calls import a_call, called, nowhere, text_of
from toolwire.core.errors import ServiceTimeout
from toolwire.core.event import Chunk, Event, Log, Progress
from toolwire.core.result import TOOL_FAILED, Failure, Result, Text
from toolwire.sdk import Refuse, ToolContext, ToolError, ToolResult, tool
from toolwire.sdk.authoring.handler import THREADS_PER_TOOL

pytestmark = pytest.mark.both_backends

WHO: contextvars.ContextVar[str] = contextvars.ContextVar("WHO", default="nobody")


class Halt(BaseException):
    pass


async def test_an_asynchronous_body_runs_in_the_task_of_its_call():
    @tool
    async def who() -> str:
        return f"{WHO.get()} {threading.get_ident()}"

    WHO.set("me")

    assert text_of(await called(who)) == f"me {threading.get_ident()}"


async def test_a_synchronous_body_runs_on_a_thread_with_the_calls_context_variables():
    @tool
    def who() -> str:
        WHO.set(WHO.get() + "!")
        return f"{WHO.get()} {threading.get_ident() != main}"

    main = threading.get_ident()
    WHO.set("me")

    assert text_of(await called(who)) == "me! True"
    assert WHO.get() == "me"


async def test_a_synchronous_body_that_never_blocks_may_run_inline():
    @tool(inline=True)
    def here() -> bool:
        return threading.get_ident() == main

    main = threading.get_ident()

    assert text_of(await called(here)) == "true"


async def test_blocking_bodies_overlap():
    """sdk.md §3.1; mcp.md S20."""
    together = threading.Barrier(3)

    @tool
    def meet(n: int) -> int:
        together.wait(timeout=5)
        return n

    results: list[str] = []

    async def meet_one(n: int) -> None:
        results.append(text_of(await called(meet, n=n)))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            for n in range(3):
                group.start_soon(meet_one, n)

    assert sorted(results) == ["0", "1", "2"]


async def test_a_blocking_body_does_not_stop_the_loop_or_other_tools():
    """sdk.md §3.2: all threads of one tool are taken, and everything else goes on."""
    gate = threading.Event()
    all_in = threading.Semaphore(0)

    @tool
    def stuck() -> None:
        all_in.release()
        gate.wait()

    @tool
    def quick() -> str:
        return "quick"

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            for _ in range(THREADS_PER_TOOL + 1):
                group.start_soon(called, stuck)
            for _ in range(THREADS_PER_TOOL):
                while not all_in.acquire(blocking=False):
                    await anyio.lowlevel.checkpoint()
            try:
                assert not all_in.acquire(blocking=False)
                assert text_of(await called(quick)) == "quick"
            finally:
                gate.set()


async def test_a_cancelled_call_leaves_its_blocked_thread_behind():
    gate, began, ended = threading.Event(), anyio.Event(), threading.Event()
    seen: list[bool] = []

    @tool
    def stuck(ctx: ToolContext) -> None:
        seen.append(ctx.cancelled)
        ctx.progress("began")
        gate.wait()
        seen.append(ctx.cancelled)
        ctx.progress("too late")
        ended.set()

    events: list[Event] = []

    def emit(event: Event) -> None:
        events.append(event)
        began.set()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(called, stuck, emit)
            await began.wait()
            group.cancel_scope.cancel()
        gate.set()
        await anyio.to_thread.run_sync(ended.wait)

    assert seen == [False, True]
    assert events == [Progress(1, None, "began")]


async def test_cancellation_of_an_asynchronous_body_goes_on():
    began = anyio.Event()
    seen: list[bool] = []

    @tool
    async def wait(ctx: ToolContext) -> None:
        seen.append(ctx.cancelled)
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            seen.append(ctx.cancelled)

    results: list[Result] = []

    async def call_it() -> None:
        results.append(await called(wait))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(call_it)
            await began.wait()
            group.cancel_scope.cancel()

    assert results == []
    assert seen == [False, True]


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("secret"), SystemExit(3), KeyboardInterrupt(), Halt(), StopIteration()]
)
@pytest.mark.parametrize("kind", ["sync", "async", "inline"])
async def test_whatever_a_body_raises_is_a_failed_result_without_its_message(kind: str, error: BaseException):
    """sdk.md 17, §4: `SystemExit` and `KeyboardInterrupt` too."""

    def sync() -> None:
        raise error

    async def in_place() -> None:
        raise error

    made = tool(in_place, name="t") if kind == "async" else tool(sync, name="t", inline=kind == "inline")
    shown = "RuntimeError" if kind == "async" and isinstance(error, StopIteration) else type(error).__name__

    result = await called(made)

    assert result == Result(
        content=(Text(f"tool 't' failed: {shown} (reference call_1)"),),
        error=Failure(TOOL_FAILED, f"tool 't' failed: {shown} (reference call_1)"),
    )


async def test_the_traceback_is_in_the_log_alone(caplog: pytest.LogCaptureFixture):
    """sdk.md §3.12."""

    @tool
    async def broken() -> None:
        raise ValueError("a secret")

    with caplog.at_level(logging.DEBUG, "toolwire"):
        result = await called(broken)

    (record,) = caplog.records
    assert "a secret" not in repr(result)
    assert record.name == "toolwire.sdk"
    assert record.getMessage() == "tool 'broken' failed in call call_1"
    assert record.exc_info is not None
    assert "a secret" in caplog.text
    assert "in broken" in caplog.text


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_a_tool_error_is_what_the_model_reads(kind: str, caplog: pytest.LogCaptureFixture):
    def sync(text: str) -> NoReturn:
        raise ToolError(text)

    async def in_place(text: str) -> NoReturn:
        raise ToolError(text)

    made = tool(in_place if kind == "async" else sync, name="t")

    assert await called(made, text="no such city") == Result(
        content=(Text("no such city"),), error=Failure(TOOL_FAILED, "no such city")
    )
    assert text_of(await called(made, text="")) == "tool failed"
    assert caplog.records == []


async def test_a_refusal_is_marked_as_one():
    @tool
    async def careful() -> NoReturn:
        raise Refuse("not on Sundays")

    result = await called(careful)

    assert text_of(result) == "not on Sundays"
    assert result.error == Failure(TOOL_FAILED, "not on Sundays", {"refused": True})


async def test_an_error_of_ours_keeps_its_words_but_is_the_tools_failure():
    @tool
    async def proxy() -> NoReturn:
        raise ServiceTimeout("nobody answered in time")

    assert (await called(proxy)).error == Failure(TOOL_FAILED, "nobody answered in time")


async def test_a_group_of_errors_is_a_failed_result():
    @tool
    async def children() -> None:
        async def fail() -> None:
            raise ValueError("a secret")

        async with anyio.create_task_group() as group:
            group.start_soon(fail)

    result = await called(children)

    assert text_of(result) == "tool 'children' failed: ExceptionGroup (reference call_1)"


async def test_a_time_out_inside_the_body_is_the_bodys_failure():
    @tool
    async def slow() -> None:
        with anyio.fail_after(0):
            await anyio.sleep_forever()

    assert text_of(await called(slow)) == "tool 'slow' failed: TimeoutError (reference call_1)"


async def test_an_awaitable_from_a_synchronous_body_is_awaited_on_the_loop():
    async def later() -> str:
        await anyio.lowlevel.checkpoint()
        return "later"

    @tool
    def eventually() -> Awaitable[str]:
        return later()

    assert text_of(await called(eventually)) == "later"


async def test_a_value_without_a_json_form_is_a_failed_result_that_names_the_path():
    """sdk.md §3.11."""

    @tool
    async def rows() -> dict[str, Any]:
        return {"rows": [{}, {"at": threading.Lock()}]}

    result = await called(rows)

    assert text_of(result) == "tool 'rows' returned a value that has no JSON form: output.rows[1].at: lock"
    assert result.error is not None
    assert result.error.code == TOOL_FAILED


async def test_a_raw_body_is_not_validated_unless_it_asks():
    """sdk.md 4: the seed says so."""

    def echo(arguments: dict[str, Any], ctx: ToolContext) -> ToolResult:
        return ToolResult(success=True, output=arguments)

    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    loose = tool(echo, name="echo", version="1", input_schema=schema)
    checked = tool(echo, name="echo", version="1", input_schema=schema, validate=True)

    assert (await called(loose, b=1)).structured == {"b": 1}
    assert text_of(await called(checked, a="x")) == 'invalid arguments: a: must be an integer, got "x"'
    assert (await called(checked, a=2)).structured == {"a": 2}


async def test_a_raw_body_may_be_asynchronous_and_gets_a_copy_of_the_arguments():
    """sdk.md 10, 18."""

    @tool(name="greedy", version="1", input_schema={})
    async def greedy(arguments: dict[str, Any], ctx: ToolContext) -> str:
        arguments["a"]["b"] = 2
        return ctx.call_id

    call = a_call("greedy", {"a": {}})

    assert text_of(await greedy.handler(call, nowhere)) == "call_1"
    assert call.arguments == {"a": {}}


async def test_structured_content_is_checked_against_the_output_schema():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

    @tool(output_schema=schema)
    async def count(kind: str) -> Any:
        match kind:
            case "good":
                return {"n": 1}
            case "bad":
                return {"n": "1"}
            case "text":
                return "1"
            case _:
                raise ToolError("no count")

    assert (await called(count, kind="good")).structured == {"n": 1}
    assert text_of(await called(count, kind="bad")) == (
        "tool 'count' gave a result that does not fit its output schema: n: must be an integer, got \"1\""
    )
    assert text_of(await called(count, kind="text")) == (
        "tool 'count' gave no structured content, which its output schema promises"
    )
    assert text_of(await called(count, kind="none")) == "no count"  # mcp.md S23


async def test_structured_true_wraps_what_is_no_object():
    @tool(structured=True)
    async def primes(good: bool) -> list[int]:
        return [2, 3] if good else ["x"]  # pyright: ignore[reportReturnType] -- a body may lie

    result = await called(primes, good=True)

    assert result.structured == {"result": [2, 3]}
    assert text_of(result) == "[2,3]"
    assert (await called(primes, good=False)).is_error


async def test_events_of_a_body_on_a_thread_arrive_in_order_on_the_loop():
    loop = threading.get_ident()
    events: list[tuple[Event, bool]] = []

    @tool
    def work(ctx: ToolContext) -> str:
        ctx.progress("half", 5, 10)
        ctx.say("so far")
        ctx.progress("more")
        ctx.log.warning("careful with %s", "that")
        return "done"

    await called(work, lambda event: events.append((event, threading.get_ident() == loop)))

    assert events == [
        (Progress(5, 10, "half"), True),
        (Chunk(Text("so far")), True),
        (Progress(7, None, "more"), True),
        (Log("warning", "careful with that", "toolwire.tool"), True),
    ]


async def test_an_asynchronous_body_may_report_from_threads_of_its_own():
    loop = threading.get_ident()
    events: list[bool] = []

    @tool
    async def work(ctx: ToolContext) -> None:
        await anyio.to_thread.run_sync(lambda: ctx.progress("on a thread"))

    await called(work, lambda event: events.append(threading.get_ident() == loop))

    assert events == [True]


async def test_the_context_tells_the_call():
    @tool
    async def where(ctx: ToolContext) -> dict[str, Any]:
        return {"id": ctx.call_id, "deadline": ctx.deadline, "metadata": ctx.metadata}

    result = await where.handler(a_call("where", deadline=1_800_000_000.0), nowhere)

    assert result.structured == {
        "id": "call_1",
        "deadline": 1_800_000_000.0,
        "metadata": {
            "task_id": "call_1",
            "root_task_id": "call_1",
            "trace_id": "call_1",
            "tool_use_id": "call_1",
        },
    }


async def test_a_context_of_a_subclass_is_made_by_the_subclass():
    class Own(ToolContext):
        extra = "own"

    @tool
    async def typed(ctx: Own) -> str:
        return ctx.extra

    @tool(name="raw", version="1", input_schema={})
    async def raw(arguments: dict[str, Any], ctx: Own) -> str:
        return ctx.extra

    assert text_of(await called(typed)) == "own"
    assert text_of(await called(raw)) == "own"


async def test_a_handler_can_be_bound_to_contexts_of_somebody_else():
    @tool
    async def where(ctx: ToolContext) -> str:
        return ctx.call_id

    handler = where.bind(lambda call, _emit: ToolContext(call_id=f"of {call.id}"))

    assert text_of(await handler(a_call("where"), nowhere)) == "of call_1"
