"""`ctx.close_stream`: what the call's record hears of it (mcp.md 1.2, resumability)."""

import math

import pytest

from toolwire.core.event import Event, Paused
from toolwire.sdk import ToolContext


async def test_the_record_hears_that_the_client_may_hang_up_and_when_to_come_back():
    heard: list[Event] = []
    ctx = ToolContext(emit=heard.append)
    await ctx.close_stream()
    ctx.close_stream(retry_after_s=1.5)
    assert heard == [Paused(), Paused(1.5)]


@pytest.mark.parametrize("seconds", [-1, math.nan, math.inf, 86_401])
async def test_a_time_that_is_none_is_refused(seconds: float):
    heard: list[Event] = []
    with pytest.raises(ValueError, match="retry_after_s"):
        ToolContext(emit=heard.append).close_stream(seconds)
    assert heard == []


async def test_a_context_made_by_hand_has_no_stream_to_close():
    await ToolContext().close_stream(retry_after_s=1)
