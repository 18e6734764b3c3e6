"""Functions in this process as a source of tools; how a function is called is its owner's business."""

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from toolwire.core.call import Call
from toolwire.core.errors import ToolNotFound
from toolwire.core.handler import Emit, Handler
from toolwire.core.result import Result
from toolwire.core.tool import Tool


class LocalTool(Protocol):
    """What a function of this process needs to be served: its definition, and the handler that runs its calls."""

    @property
    def tool(self) -> Tool:
        """The definition."""
        ...

    @property
    def handler(self) -> Handler:
        """Runs a call; it turns every failure of the function into a failed result."""
        ...


class FunctionProvider:
    """A provider over functions: nothing between the engine and the function but one look-up.

    Args:
        tools: the functions, in the order in which they are listed; the same one twice counts once.
        source: where they come from, for the record, such as "module:weather"; it replaces each tool's own.

    Attributes:
        handlers: what runs the calls of each tool, by its name.

    Raises:
        ValueError: two different functions have the same name.
    """

    def __init__(self, tools: Iterable[LocalTool], source: str = "") -> None:
        given: dict[str, LocalTool] = {}
        for entry in tools:
            other = given.setdefault(entry.tool.name, entry)
            if other is not entry:
                raise ValueError(f"two tools are named {entry.tool.name!r}: {other!r} and {entry!r}; rename one")
        self._tools = tuple(_from(entry.tool, source) for entry in given.values())
        self.handlers: Mapping[str, Handler] = {name: entry.handler for name, entry in given.items()}

    def tools(self) -> Sequence[Tool]:
        """The tools, in the order given."""
        return self._tools

    def call(self, call: Call, emit: Emit) -> Awaitable[Result]:
        """Run `call`.

        Raises:
            ToolNotFound: there is no such function.
        """
        handler = self.handlers.get(call.tool)
        if handler is None:
            raise ToolNotFound(f"there is no tool {call.tool!r} here; list the tools to see what there is")
        return handler(call, emit)


def _from(tool: Tool, source: str) -> Tool:
    return msgspec.structs.replace(tool, source=source) if source else tool
