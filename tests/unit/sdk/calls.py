"""Calls to a tool without an engine: what the engine would hand to its handler, and what came out."""

import math
from collections.abc import Callable
from typing import Any

from toolwire.core.call import Call, Caller
from toolwire.core.event import Event
from toolwire.core.result import Result, Text
from toolwire.sdk.tool import DecoratedTool


def a_call(tool: str = "t", arguments: dict[str, Any] | None = None, deadline: float = math.inf) -> Call:
    """A call of `tool` by somebody."""
    caller = Caller(principal="p", owner="o", surface="sdk")
    return Call(id="call_1", caller=caller, tool=tool, arguments=arguments or {}, deadline=deadline)


def nowhere(_event: Event) -> None:
    """An `emit` for tests that look at no events."""


async def called(tool: DecoratedTool, emit: Callable[[Event], None] = nowhere, **arguments: Any) -> Result:
    """The result of calling `tool` with `arguments`."""
    return await tool.handler(a_call(tool.name, arguments), emit)


def text_of(result: Result) -> str:
    """The text of a result that is one text block."""
    (block,) = result.content
    assert isinstance(block, Text)
    return block.text
