"""The context of a call made by hand, its counter and its log (gateway.md §6, "Answers"; sdk.md 16)."""

import logging
import math
from typing import Any

import pytest

from toolwire.core.event import Chunk, Event, Log, Progress
from toolwire.core.result import Text
from toolwire.sdk import MemoryContentStore, ToolContext


def recording() -> tuple[ToolContext, list[Event]]:
    events: list[Event] = []
    return ToolContext(call_id="call_1", emit=events.append), events


def test_a_context_made_by_hand_needs_nothing():
    ctx = ToolContext()

    ctx.progress("unheard")
    ctx.say("unheard")
    ref = ctx.artifact_store.put(b"x")

    assert ctx.artifact_store.get(ref) == b"x"
    assert ctx.deadline == math.inf
    assert not ctx.cancelled
    assert ctx.metadata == {}
    assert ctx.call_id == ""


def test_a_context_takes_what_the_runtime_would_give():
    store = MemoryContentStore()
    ctx = ToolContext(artifact_store=store, metadata={"task_id": "t"}, deadline=5.0)

    assert (ctx.artifact_store, ctx.metadata, ctx.deadline) == (store, {"task_id": "t"}, 5.0)


async def test_progress_and_say_share_one_counter_that_rises():
    """gateway.md §6: a value that would not rise is raised by one."""
    ctx, events = recording()

    ctx.progress("start", 0, 100)
    ctx.say("one ")
    ctx.progress("back", 1)
    ctx.progress("half", 50, 100)
    ctx.say("two")
    ctx.progress("none given")
    ctx.progress("not a place", math.nan, math.inf)

    assert events == [
        Progress(0, 100, "start"),
        Chunk(Text("one ")),
        Progress(2, None, "back"),
        Progress(50, 100, "half"),
        Chunk(Text("two")),
        Progress(52, None, "none given"),
        Progress(53, None, "not a place"),
    ]


async def test_the_first_progress_without_a_value_is_one():
    ctx, events = recording()

    ctx.progress("go")

    assert events == [Progress(1, None, "go")]


async def test_progress_and_say_may_be_awaited():
    ctx, events = recording()

    await ctx.progress("a")
    await ctx.say("b")

    assert len(events) == 2


@pytest.mark.parametrize("value", ["3", True, None.__class__])
def test_progress_wants_numbers(value: Any):
    with pytest.raises(TypeError, match=r"progress\(value\) must be a number"):
        ToolContext().progress("x", value)
    with pytest.raises(TypeError, match=r"progress\(total\) must be a number"):
        ToolContext().progress("x", 1, value)


async def test_after_the_call_events_are_dropped():
    ctx, events = recording()

    ctx.abandon()
    ctx.progress("late")

    assert events == []
    assert ctx.cancelled


async def test_text_that_no_wire_can_carry_is_cleaned():
    ctx, events = recording()

    ctx.say("\ud800")
    ctx.progress("\ud800")

    assert events == [Chunk(Text("\ufffd")), Progress(2, None, "\ufffd")]


async def test_log_lines_are_events_and_log_records(caplog: pytest.LogCaptureFixture):
    ctx, events = recording()

    with caplog.at_level(logging.DEBUG, "toolwire.tool"):
        ctx.log.debug("d")
        ctx.log.info("got %d of %d", 1, 2)
        ctx.log.warning("odd %s")
        ctx.log.error("bad %s %s", 1)  # noqa: PLE1206 -- a mistake of an author, which must not raise
        ctx.log.critical("worse", extra={"more": 1})
        try:
            raise ValueError("a secret")
        except ValueError:
            ctx.log.exception("it broke")

    assert events == [
        Log("debug", "d", "toolwire.tool"),
        Log("info", "got 1 of 2", "toolwire.tool"),
        Log("warning", "odd %s", "toolwire.tool"),
        Log("error", "bad %s %s (1,)", "toolwire.tool"),
        Log("critical", "worse", "toolwire.tool"),
        Log("error", "it broke", "toolwire.tool"),
    ]
    assert [record.getMessage() for record in caplog.records] == [
        event.text for event in events if isinstance(event, Log)
    ]
    assert {vars(record)["call_id"] for record in caplog.records} == {"call_1"}
    assert vars(caplog.records[4])["more"] == 1
    assert "a secret" in caplog.text
    assert caplog.records[0].filename == "test_context.py"
