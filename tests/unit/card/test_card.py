"""cards.md 28-39, 50-59, 66-68, decisions 22, 23, 25-28, 32: a Python card, as its author writes it."""

import threading
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.from_thread
import pytest

from tests.unit.card.manifests import GOOD, with_tool
from toolwire.card import (
    AgentRef,
    Card,
    CardError,
    ToolCall,
    ToolResult,
    tool_error,
    tool_image,
    tool_result,
    tool_text,
)
from toolwire.testing import MockHost, text_of

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)

virtual = pytest.mark.virtual_time


def answering(handler: Any) -> Card:
    card = Card()
    card.tools.handle("run_tests", handler)
    return card


def returning(value: Any) -> Callable[[dict[str, Any], ToolCall], Awaitable[Any]]:
    async def handler(arguments: dict[str, Any], call: ToolCall) -> Any:
        return value

    return handler


async def result_of(handler: Any, declared: dict[str, Any] = GOOD, **arguments: Any) -> ToolResult:
    async with MockHost(declared).connected(answering(handler)) as host:
        return await host.call_tool("run_tests", arguments)


async def test_a_handler_sees_its_arguments_and_who_calls_what_for_which_copy_until_when() -> None:
    """cards.md 28-33, 84, decision 41."""
    seen: list[tuple[dict[str, Any], ToolCall]] = []
    card = Card()

    @card.tools.handle("run_tests")
    async def run_tests(arguments: dict[str, Any], call: ToolCall) -> str:
        seen.append((arguments, call))
        return "All tests passed"

    async with MockHost(GOOD, copies=("Radar", "Other")).connected(card) as host:
        writer = AgentRef("agent_1", "writer")
        result = await host.call_tool("run_tests", {"filter": "a"}, agent=writer, card="Other")
    assert text_of(result) == "All tests passed"
    ((arguments, call),) = seen
    assert arguments == {"filter": "a"}
    assert (call.call_id, call.tool) == (host.calls[0].call_id, "run_tests")
    assert call.exposed_name == "test_radar_run_tests"
    assert call.agent == writer
    assert (call.card.id, call.card.name) == ("card_2", "Other")
    assert call.deadline > 1e9
    assert not call.cancelled
    assert run_tests is not None


async def test_arguments_that_do_not_fit_never_reach_the_handler() -> None:
    """cards.md 10, 11, 29."""
    result = await result_of(returning("called"), filter="x" * 201)
    assert result.is_error
    assert "/filter" in text_of(result)


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        (None, "OK"),
        ("plain", "plain"),
        ("", ""),
        ({"a": [1, None]}, '{\n  "a": [\n    1,\n    null\n  ]\n}'),
        ([], "[]"),
        (False, "false"),
        (3.5, "3.5"),
        (tool_text("words"), "words"),
    ],
)
async def test_what_a_plain_function_returns_is_the_result(returned: Any, text: str) -> None:
    """cards.md 38, 40-43: not only async functions handle calls."""

    def handler(arguments: dict[str, Any], call: ToolCall) -> Any:
        return returned

    result = await result_of(handler)
    assert (text_of(result), result.is_error) == (text, False)


async def test_pictures_failures_and_several_parts_go_as_they_are() -> None:
    """cards.md 44-48."""
    parts = tool_result("before", tool_image(PNG, caption="a caption"))
    assert await result_of(returning(parts)) == parts
    failed = tool_error("Connect a terminal card first.")
    assert await result_of(returning(failed)) == failed


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ("x" * 2 * 1024 * 1024, "bytes"),
        (tool_result(*["x"] * 17), "17 parts"),
        (tool_result(), "0 parts"),
        (float("nan"), "nan"),
        (object(), "JSON"),
    ],
)
async def test_what_cannot_be_sent_is_an_error_for_the_agent(returned: Any, words: str) -> None:
    """cards.md 48, 49, 52, decisions 29, 31."""
    result = await result_of(returning(returned))
    assert result.is_error
    assert words in text_of(result)


async def test_what_a_handler_raises_reaches_the_agent_in_its_words_and_the_log_with_its_stack() -> None:
    """cards.md 50, 51, 82, decision 32."""

    async def handler(arguments: dict[str, Any], call: ToolCall) -> None:
        raise LookupError("no such check: x")

    async with MockHost(GOOD).connected(answering(handler)) as host:
        result = await host.call_tool("run_tests")
        assert (text_of(result), result.is_error) == ("no such check: x", True)
        await anyio.wait_all_tasks_blocked()
    warning, stack = host.logs
    assert (warning.level, warning.text, warning.card) == ("warn", "no such check: x", "card_1")
    assert stack.level == "warn"
    assert "Traceback" in stack.text


async def test_a_log_that_cannot_be_written_does_not_keep_an_error_from_the_agent() -> None:
    """cards.md 50."""

    def refuse(params: Any) -> None:
        raise CardError("rate_limited", "too fast")

    async def handler(arguments: dict[str, Any], call: ToolCall) -> None:
        call.progress("begun")
        raise ValueError("wrong")

    host = MockHost(GOOD)
    host.handle("log.write", refuse)
    host.handle("tools.progress", refuse)
    async with host.connected(answering(handler)):
        assert text_of(await host.call_tool("run_tests")) == "wrong"


async def test_an_error_of_the_authors_own_task_group_is_told_by_what_went_wrong_in_it() -> None:
    """cards.md 50."""

    async def fail() -> None:
        raise ValueError("the registry is down")

    async def handler(arguments: dict[str, Any], call: ToolCall) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fail)

    assert text_of(await result_of(handler)) == "the registry is down"


async def test_words_that_are_no_text_do_not_end_the_card() -> None:
    """cards.md 50: a name from a file system may hold what UTF-8 does not."""

    async def handler(arguments: dict[str, Any], call: ToolCall) -> str:
        call.progress("looking at \udcff")
        await card.log.info("looking at \udcff")
        raise OSError("no file \udcff")

    card = Card()
    card.tools.handle("run_tests", handler)
    async with MockHost(GOOD).connected(card) as host:
        assert text_of(await host.call_tool("run_tests")) == "no file ?"
        assert (await host.call_tool("run_tests")).is_error
    assert "looking at ?" in host.progress


@virtual
async def test_progress_is_told_four_times_a_second_at_most_and_the_last_of_it_before_the_result() -> None:
    """cards.md 35, 36, decisions 27, 28."""

    async def handler(arguments: dict[str, Any], call: ToolCall) -> None:
        for number in range(10_000):
            call.progress(f"step\n{number} " + "x" * 300)
            if number % 1000 == 0:
                await anyio.sleep(0.1)
        call.progress("  ")

    async with MockHost(GOOD).connected(answering(handler)) as host:
        await host.call_tool("run_tests")
        assert anyio.current_time() == pytest.approx(1.0)
    assert host.progress[0] == "step 0 " + "x" * 192 + "…"
    assert host.progress[-1].startswith("step 9999 ")
    assert len(host.progress) <= 6


async def test_a_plain_function_tells_progress_and_asks_the_host_from_its_thread() -> None:
    """cards.md 35, 38."""
    threads: set[int] = set()

    def handler(arguments: dict[str, Any], call: ToolCall) -> str:
        threads.add(threading.get_ident())
        call.progress("from a thread")
        anyio.from_thread.run(card.storage.set, "seen", 1)
        return str(anyio.from_thread.run(card.storage.get, "seen"))

    card = Card()
    card.tools.handle("run_tests", handler)
    async with MockHost(GOOD, copies=("One", "Two")).connected(card) as host:
        assert text_of(await host.call_tool("run_tests", card="Two")) == "1"
    assert host.progress == ["from a thread"]
    assert threads != {threading.get_ident()}
    assert host.storage == {"card_2": {"seen": 1}}


@virtual
async def test_at_its_deadline_a_handler_is_told_and_soon_cancelled_and_nothing_is_sent() -> None:
    """cards.md 34, 37, 55-57, decision 25."""
    told: list[tuple[str, float]] = []
    ended = anyio.Event()

    async def handler(arguments: dict[str, Any], call: ToolCall) -> str:
        cancelled = await call.signal
        told.append((cancelled.code, anyio.current_time()))
        try:
            await anyio.sleep_forever()
        finally:
            told.append(("ended", anyio.current_time()))
            ended.set()
        return "too late"

    async with MockHost(with_tool(timeoutMs=5000)).connected(answering(handler)) as host:
        result = await host.call_tool("run_tests")
        assert (text_of(result), result.is_error) == ("the tool timed out after 5 s", True)
        await ended.wait()
    assert told == [("deadline", 5.0), ("ended", 6.0)]
    assert [method for method, _ in host.requests] == ["host.ready"]


@virtual
async def test_a_handler_that_is_cancelled_may_still_return_which_sends_nothing() -> None:
    """cards.md 37, 57, 58."""
    begun = anyio.Event()

    async def handler(arguments: dict[str, Any], call: ToolCall) -> str:
        begun.set()
        await call.signal
        call.progress("too late")
        return "too late"

    async with MockHost(GOOD).connected(answering(handler)) as host, anyio.create_task_group() as tasks:
        tasks.start_soon(host.call_tool, "run_tests")
        await begun.wait()
        host.cancel(host.calls[0].call_id)
        await anyio.sleep(1)
    assert host.calls[0].result == tool_error("cancelled: the agent gave up")
    assert [method for method, _ in host.requests] == ["host.ready"]


@virtual
async def test_what_is_said_of_a_call_after_its_end_is_ignored() -> None:
    """Decision 28."""
    kept: list[ToolCall] = []

    async def handler(arguments: dict[str, Any], call: ToolCall) -> None:
        kept.append(call)

    async with MockHost(GOOD).connected(answering(handler)) as host:
        await host.call_tool("run_tests")
        kept[0].progress("after the end")
        await anyio.sleep(1)
    assert host.progress == []


@virtual
async def test_a_call_waits_for_a_handler_that_is_still_to_come() -> None:
    """cards.md 59, 83."""
    card = Card()
    async with MockHost(GOOD).connected(card) as host, anyio.create_task_group() as tasks:
        tasks.start_soon(host.call_tool, "run_tests")
        await anyio.sleep(100)
        card.tools.handle("run_tests", returning("loaded"))
    assert host.calls[0].result == tool_text("loaded")


@virtual
async def test_a_call_waits_a_moment_for_a_handler_that_was_taken_away() -> None:
    """cards.md 39, decision 23."""

    async def handler(arguments: dict[str, Any], call: ToolCall) -> str:
        return "again"

    card = answering(handler)
    async with MockHost(GOOD).connected(card) as host:
        card.tools.remove("run_tests", handler)
        result = await host.call_tool("run_tests")
        assert "no handler" in text_of(result)
        assert anyio.current_time() == 5
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(host.call_tool, "run_tests")
            await anyio.sleep(2)
            card.tools.handle("run_tests", handler)
        assert host.calls[-1].result == tool_text("again")


async def test_a_handler_that_wants_to_exit_fails_alone() -> None:
    """cards.md 50."""

    async def handler(arguments: dict[str, Any], call: ToolCall) -> None:
        raise SystemExit(2)

    def plain(arguments: dict[str, Any], call: ToolCall) -> None:
        raise SystemExit("usage: …")

    for exiting, word in ((handler, "2"), (plain, "usage")):
        async with MockHost(GOOD).connected(answering(exiting)) as host:
            for _ in range(2):
                result = await host.call_tool("run_tests")
                assert result.is_error
                assert f"tried to exit with {word}" in text_of(result).replace("'", "")


@virtual
async def test_an_author_is_told_which_handler_a_call_waits_for(caplog: pytest.LogCaptureFixture) -> None:
    """cards.md 59: a name that is spelt in another way than in the manifest is easily overlooked."""
    card = Card()
    card.tools.handle("run_test", returning("never called"))
    async with MockHost(GOOD).connected(card) as host:
        assert "timed out" in text_of(await host.call_tool("run_tests"))
    assert "waits for a handler of 'run_tests'; there are handlers of run_test" in caplog.text


async def test_a_tool_has_one_handler_and_a_handler_a_name() -> None:
    """cards.md 39."""
    with pytest.raises(TypeError, match="name the tool"):
        Card().tools.handle(returning(None))  # pyright: ignore[reportArgumentType]
    card = answering(returning(None))
    with pytest.raises(ValueError, match="has a handler already"):
        card.tools.handle("run_tests", returning(None))


async def test_several_calls_are_in_flight_at_once() -> None:
    """cards.md 38."""
    all_there, waiting = anyio.Event(), 0

    async def handler(arguments: dict[str, Any], call: ToolCall) -> str:
        nonlocal waiting
        waiting += 1
        if waiting == 16:
            all_there.set()
        await all_there.wait()
        return arguments["filter"]

    async with MockHost(GOOD).connected(answering(handler)) as host:
        async with anyio.create_task_group() as tasks:
            for number in range(16):
                tasks.start_soon(host.call_tool, "run_tests", {"filter": str(number)})
        assert [call.result for call in host.calls] == [tool_text(str(number)) for number in range(16)]


async def test_a_tool_is_switched_off_and_on_again() -> None:
    """cards.md 66, 67, decision 34."""
    card = answering(returning(None))
    async with MockHost(GOOD).connected(card) as host:
        await card.tools.set_enabled("run_tests", False)
        assert (await host.call_tool("run_tests")).is_error
        await card.tools.set_enabled("run_tests", True)
        assert text_of(await host.call_tool("run_tests")) == "OK"
        with pytest.raises(CardError, match="declares no tool 'gone'") as refused:
            await card.tools.set_enabled("gone", False)
        assert refused.value.code == "invalid_param"
