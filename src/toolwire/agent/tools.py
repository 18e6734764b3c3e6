"""The tools of an agent and the choice among them; it does not run an event loop or a link.

What derives a tool's schema and runs its function is toolwire.sdk; here a tool becomes a skill that is registered and a
body that answers a message.
"""

import math
from collections.abc import Awaitable, Iterable
from functools import partial
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.structs import replace

from toolwire.agent.context import Inbound
from toolwire.agent.worker import Body
from toolwire.core.call import Call
from toolwire.core.handler import Emit, Handler, is_prompt, may_ask
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.core.names import valid_tool_name
from toolwire.core.result import Result, failed
from toolwire.sdk.authoring.checks import checked_options
from toolwire.sdk.authoring.signature import Body as Function
from toolwire.sdk.authoring.signature import is_async
from toolwire.sdk.context import ToolContext
from toolwire.sdk.tool import DecoratedTool, ToolOptions, build_tool
from toolwire.wire.link import Message, Skill

MESSAGE: Final = "message"
"""The tool that a gateway offers for an agent without tools of its own (gateway.md X1)."""

_NAMES_SHOWN: Final = 20


class AgentToolOptions(ToolOptions, total=False):
    """What `@agent.tool(…)` can be told: everything that `toolwire.sdk.tool` can, and more.

    Attributes:
        expose: false keeps the tool out of what callers are shown.
        long_running: a call takes so long that callers who can should watch it as a task.
    """

    expose: bool
    long_running: bool


class _Offered(Struct, frozen=True):
    """A tool as an agent has it. `lane` is whose places its calls take, see `Body`."""

    skill: Skill
    handler: Handler
    lane: str
    repeatable: bool
    is_prompt: bool


class Tools:
    """What an agent answers with: its tools, and at most one function for plain messages."""

    def __init__(self) -> None:
        self._offered: dict[str, _Offered] = {}
        self._on_message: tuple[_Offered, str] | None = None
        self._made: dict[str, DecoratedTool] = {}

    @property
    def skills(self) -> tuple[Skill, ...]:
        """The tools as they are registered, in the order in which they were added."""
        return tuple(offered.skill for offered in self._offered.values())

    def add(self, tool: DecoratedTool, *, expose: bool = True, long_running: bool = False) -> None:
        """Offer a tool.

        Raises:
            TypeError: it is no tool.
            ValueError: there is one of that name, or models do not take the name.
        """
        if not isinstance(tool, DecoratedTool):  # pyright: ignore[reportUnnecessaryIsInstance] -- authors do not all check types
            raise TypeError(f"an agent's tools are functions made tools by @tool, got {tool!r}")
        if not valid_tool_name(tool.name):
            raise ValueError(f"{tool.name!r} cannot be an agent's tool: not every model takes such a name; rename it")
        if tool.name in self._offered:
            raise ValueError(f"the agent has a tool {tool.name!r} already; give one of the two another name")
        self._offered[tool.name] = _offered(tool, expose=expose, long_running=long_running)
        self._made[tool.name] = tool

    def keep(self, tool: DecoratedTool) -> bool:
        """Offer a tool unless it is offered already; says whether it was not.

        Raises:
            TypeError, ValueError: as `add`.
        """
        if self._made.get(tool.name) is tool:
            return False
        self.add(tool)
        return True

    def build(self, function: Function, options: AgentToolOptions) -> DecoratedTool:
        """Make `function` a tool with these options and offer it.

        Raises:
            TypeError, ValueError: as `toolwire.sdk.tool` and `add`.
        """
        checked_options(options, AgentToolOptions.__optional_keys__)
        rest: dict[str, Any] = dict(options)
        expose, long_running = rest.pop("expose", True), rest.pop("long_running", False)
        for name, value in (("expose", expose), ("long_running", long_running)):
            if not isinstance(value, bool):
                raise TypeError(f"tool({name}) must be True or False, got {value!r}")
        if not isinstance(function, DecoratedTool):
            tool = build_tool(function, cast("ToolOptions", rest))
        elif rest:
            raise TypeError(f"{function.name!r} is a tool already; tell its options {sorted(rest)} to its own @tool(…)")
        else:
            tool = function
        self.add(tool, expose=expose, long_running=long_running)
        return tool

    def set_on_message(self, function: Function, *, repeatable: bool = False) -> DecoratedTool:
        """Answer plain messages with `function`, which takes the text, and a context if it likes.

        One that is `repeatable` goes on where it was when it gets a message again whose answer is not in the journal.

        Raises:
            TypeError: it takes something else.
            ValueError: there is one already.
        """
        if self._on_message is not None:
            raise ValueError("the agent answers plain messages already; it can have one @agent.on_message")
        tool = build_tool(function, {"name": MESSAGE})
        parameters = list(tool.input_schema.get("properties", {}))
        if len(parameters) != 1:
            raise TypeError(f"@agent.on_message takes a function of the text alone, and ctx, not of {parameters}")
        offered = _offered(tool)
        if repeatable:
            offered = replace(offered, repeatable=True)
        self._on_message = (offered, parameters[0])
        return tool

    def choose(self, message: Message) -> Body:
        """What answers a `chat_message`; for one that nothing fits, a body that says so."""
        payload = message.payload
        if payload.get("tool") is None:
            return self._plain(payload.get("message"))
        tool = as_object(payload["tool"]) or {}
        name, arguments = tool.get("name"), as_object(tool.get("arguments") or {})
        if isinstance(name, str) and arguments is not None:
            return self._called(name, arguments)
        return _saying("the message names a tool in a way that is none: expected {name, arguments}")

    def _called(self, name: str, arguments: JsonObject) -> Body:
        offered = self._offered.get(name)
        if offered is not None:
            return _body(offered, arguments)
        if name == MESSAGE and self._on_message is not None:
            return self._plain(arguments.get("message"))
        return _saying(f"this agent has no tool {name!r}; {self._has()}", "tool_not_found")

    def _plain(self, text: Any) -> Body:
        if self._on_message is None:
            return _saying(f"this agent answers calls of its tools only; {self._has()}", "tool_not_found")
        if not isinstance(text, str):
            return _saying("the message has no text")
        offered, parameter = self._on_message
        return _body(offered, {parameter: text})

    def _has(self) -> str:
        names = [name for name, offered in self._offered.items() if offered.skill.expose_as_tool]
        if not names:
            return "it has none"
        more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
        return f"it has {', '.join(map(repr, names[:_NAMES_SHOWN]))}{more}"


def checked_tools(tools: Iterable[DecoratedTool]) -> Tools:
    """The tools of `Agent(tools=(…))`.

    Raises:
        TypeError: an entry is no tool.
        ValueError: two have one name.
    """
    offered = Tools()
    if isinstance(tools, DecoratedTool):
        tools = (tools,)
    for tool in tools:
        offered.add(tool)
    return offered


def _offered(tool: DecoratedTool, *, expose: bool = True, long_running: bool = False) -> _Offered:
    definition, handler = tool.tool, tool.bind(_context)
    skill = Skill(
        name=definition.name,
        description=definition.description,
        input_schema=definition.input_schema,
        output_schema=definition.output_schema,
        title=definition.title,
        annotations=definition.annotations,
        icons=definition.icons,
        expose_as_tool=expose,
        idempotent=definition.idempotent,
        strict=definition.strict,
        may_ask=may_ask(handler),
        long_running=long_running or definition.task != "never",
        task=definition.task if definition.task in ("required", "later") else None,
        timeout_ms=None if definition.timeout_s is None else math.ceil(definition.timeout_s * 1000),
    )
    lane = "" if is_async(tool.__wrapped__) else definition.name
    return _Offered(skill, handler, lane, definition.repeatable, is_prompt(handler))


def _context(call: Call, emit: Emit) -> ToolContext:
    if not isinstance(emit, Inbound):
        raise TypeError(f"an agent's tool answers messages; its events go to an Inbound, not to {emit!r}")
    return emit.context(call)


def _body(offered: _Offered, arguments: JsonObject) -> Body:
    return Body(partial(_answer, offered, arguments), offered.lane, offered.repeatable, offered.is_prompt)


def _answer(offered: _Offered, arguments: JsonObject, inbound: Inbound) -> Awaitable[Result]:
    return offered.handler(inbound.call(offered.skill.name, arguments), inbound)


def _saying(text: str, code: str = "invalid_param") -> Body:
    async def answer(_inbound: Inbound) -> Result:
        return failed(text, code)

    return Body(answer, repeatable=True)
