"""The toolbox of each agent: what its arrows grant, as one MCP endpoint that is always up to date.

`tools/list` is answered from boards and manifests alone, whether or not a card is awake (cards.md 2, 12, decision 4).
An agent that does not notice changes of its list has two tools that never change, with the same checks behind them
(decision 2).
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from toolwire import __version__
from toolwire.canvas.card_calls import CARD_ARGUMENT, CardCalls, Target
from toolwire.canvas.card_port import WAKE_S
from toolwire.canvas.copies import Copy, reached
from toolwire.canvas.copy_argument import CARD_PROPERTY, compile_for_copies
from toolwire.canvas.identity import AgentInfo
from toolwire.canvas.listed import ListedCatalog
from toolwire.canvas.packages import Package, Packages
from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.card.manifest import Manifest, ToolSpec
from toolwire.core.board import Arrow, Board
from toolwire.core.call import Call
from toolwire.core.change import ListChanged
from toolwire.core.confidential import keep_confidential
from toolwire.core.errors import InvalidArguments, ToolNotFound, ToolwireError
from toolwire.core.event import Finished, Stamped
from toolwire.core.handler import Emit, Handler
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import as_object
from toolwire.core.result import Result, failed, text_result
from toolwire.core.tool import Tool
from toolwire.engine.catalog import CompileSchema
from toolwire.engine.deadline import Timer
from toolwire.engine.engine import Engine
from toolwire.providers.function import LocalTool
from toolwire.surfaces.changes import Changes
from toolwire.surfaces.endpoint import Endpoint, Library

QUIET_S = 0.1
"""How long a change waits for others before agents are told, once for all of them (decision 33)."""
SPARE_S = 5.0
"""How much longer the engine waits than a card may take, so that the card's own end is the one that is told."""
INSTRUCTIONS = (
    "Tools of the cards, terminals and agents that the user has connected to you on the canvas with arrows. The list"
    " changes as arrows are drawn and removed; toolwire_list_tools has the present one, and toolwire_call_tool calls a"
    " tool that is not in your list yet. Cards marked as community code were written by others: what they return may"
    " be untrusted."
)
ALWAYS = "toolwire_"
"""What the names of the tools begin with that every agent has, and that come by no arrow of their own."""
Way: TypeAlias = tuple[str, str, tuple[str, ...] | None]
"""An arrow's source, its target, and the tools that it lets through."""


class BuiltIns(Protocol):
    """The tools of our own that arrows grant."""

    def tools(self, agent: AgentInfo, found: Sequence[Copy]) -> Sequence[LocalTool]:
        """Those of an agent that reaches these cards."""
        ...

    def by_arrow(self, agent: AgentInfo, found: Sequence[Copy]) -> Sequence[LocalTool]:
        """Those among them whose calls go through an arrow."""
        ...


class Toolbox:
    """One agent's tools.

    Attributes:
        is_stale: whether boards or packages have changed since the tools were worked out.
        timer: rings when the agent is to be told, if it is.
        handlers: what runs the calls of each tool, by its name.
        ways: by the ids of the arrows that grant, what of each decides on tools.
        seen: the same, when the agent read its list last.
    """

    def __init__(self, agent: AgentInfo, catalog: ListedCatalog, endpoint: Endpoint, changes: Changes) -> None:
        self.agent = agent
        self.catalog = catalog
        self.endpoint = endpoint
        self.changes = changes
        self.is_stale = True
        self.timer: Timer | None = None
        self.handlers: Mapping[str, Handler] = {}
        self.ways: Mapping[str, Way] = {}
        self.seen: Mapping[str, Way] = {}

    @property
    def is_known(self) -> bool:
        """Whether the agent has read the list as it is now (decision 2)."""
        return not self.is_stale and self.catalog.listed_version == self.catalog.version

    @property
    def unseen(self) -> Sequence[str]:
        """The arrows that were drawn or changed since the agent read its list."""
        return [arrow for arrow, way in self.ways.items() if self.seen.get(arrow) != way]

    def tools(self) -> Sequence[Tool]:
        """See `core.handler.Provider.tools`."""
        return [entry.tool for entry in self.catalog]

    def call(self, call: Call, emit: Emit) -> Awaitable[Result]:
        """See `core.handler.Provider.call`."""
        handler = self.handlers.get(call.tool)
        if handler is None:
            raise ToolNotFound(f"no tool is named {call.tool!r} here any more; list your tools again")
        return handler(call, emit)


class Toolboxes:
    """All agents' toolboxes.

    Args:
        workspaces: where agents and cards stand.
        packages: what cards are.
        calls: runs their tools.
        built_ins: the other tools.
        engine: runs the calls that a tool makes.
        compile_schema: makes validators.
        call_timeout_s: the time-out of a tool that has none.
    """

    def __init__(
        self,
        workspaces: Workspaces,
        packages: Packages,
        calls: CardCalls,
        built_ins: BuiltIns,
        engine: Engine,
        compile_schema: CompileSchema,
        call_timeout_s: float,
    ) -> None:
        self._workspaces = workspaces
        self._packages = packages
        self._calls = calls
        self._built_ins = built_ins
        self._engine = engine
        self.compile = partial(compile_for_copies, compile_schema)
        self._call_timeout_s = call_timeout_s
        self._toolboxes: dict[str, Toolbox] = {}
        self._listeners: list[Callable[[Toolbox], None]] = []
        workspaces.on_changed(self._on_workspace)
        packages.on_changed(lambda package: self._stale(package.owner))

    def of(self, agent: AgentInfo) -> Toolbox:
        """An agent's toolbox, as its arrows have it now."""
        toolbox = self._toolboxes.get(agent.agent_id)
        if toolbox is None:
            toolbox = self._toolboxes[agent.agent_id] = self._new(agent)
        toolbox.agent = agent
        if toolbox.is_stale:
            self._refresh(toolbox)
        return toolbox

    def known(self, agent_id: str) -> Toolbox | None:
        """An agent's toolbox if it was ever asked for."""
        return self._toolboxes.get(agent_id)

    def on_changed(self, listener: Callable[[Toolbox], None]) -> None:
        """Tell `listener` of every toolbox that was read, or has changed; it must not block or raise."""
        self._listeners.append(listener)

    def grants(self, agent: AgentInfo) -> Sequence[tuple[Copy, Sequence[str]]]:
        """The cards that an agent's arrows reach, each with the names of the tools that come by that arrow."""
        found = reached(self._workspaces, agent.owner, agent.agent_id)
        return [(copy, list(self.by_arrow(agent, (copy,)))) for copy in found]

    def by_arrow(self, agent: AgentInfo, found: Sequence[Copy]) -> dict[str, LocalTool]:
        """The tools whose calls go through the arrows to the cards among `found`, by name."""
        offered = (*self._built_ins.by_arrow(agent, found), *self._of_cards(agent, found))
        return {one.tool.name: one for one in offered}

    def _of_cards(self, agent: AgentInfo, found: Sequence[Copy]) -> Iterator[LocalTool]:
        for package in self._packages.of_owner(agent.owner):
            for tool, target in self._granted(package, found):
                yield _Local(tool, self._handler(agent, target))

    def _new(self, agent: AgentInfo) -> Toolbox:
        catalog, changes = ListedCatalog(self.compile, self._engine.clock), Changes()
        endpoint = Endpoint(
            agent_id="",
            name="toolwire",
            version=__version__,
            catalog=catalog,
            title=f"Toolbox of {agent.name}",
            instructions=INSTRUCTIONS,
            call_timeout_s=self._call_timeout_s,
            library=Library(changes=changes),
            logs=True,
        )
        toolbox = Toolbox(agent, catalog, endpoint, changes)
        catalog.on_listed = lambda: self._listed(toolbox)
        return toolbox

    def _listed(self, toolbox: Toolbox) -> None:
        """The agent reads its list: it knows its arrows now."""
        toolbox.seen = toolbox.ways
        self._told(toolbox)

    def _told(self, toolbox: Toolbox) -> None:
        for listener in self._listeners:
            listener(toolbox)

    def _on_workspace(self, before: Workspace | None, after: Workspace | None) -> None:
        if before is None or after is None or _grants_of(before.board) != _grants_of(after.board):
            changed = after or before
            assert changed is not None
            self._stale(changed.owner)

    def _stale(self, owner: str) -> None:
        """An owner's agents may have other tools now: they are told in a moment, once."""
        for toolbox in self._toolboxes.values():
            if toolbox.agent.owner == owner:
                toolbox.is_stale = True
                if toolbox.timer is None:
                    toolbox.timer = self._engine.timekeeper.after(QUIET_S, lambda toolbox=toolbox: self._tell(toolbox))

    def _tell(self, toolbox: Toolbox) -> None:
        toolbox.timer = None
        if toolbox.is_stale:
            self._refresh(toolbox)

    def _refresh(self, toolbox: Toolbox) -> None:
        """Offer what the arrows grant now, and say so where that is news."""
        toolbox.is_stale = False
        found = reached(self._workspaces, toolbox.agent.owner, toolbox.agent.agent_id)
        built_in = (*self._constant(toolbox), *self._built_ins.tools(toolbox.agent, found))
        offered = {one.tool.name: one for one in (*built_in, *self._of_cards(toolbox.agent, found))}
        toolbox.handlers = {name: one.handler for name, one in offered.items()}
        before, toolbox.ways = toolbox.ways, {copy.arrow.id: _way_of(copy.arrow) for copy in found}
        is_news = toolbox.catalog.replace([one.tool for one in offered.values()], toolbox)
        if is_news:
            toolbox.changes.tell(ListChanged("tools"))
        if is_news or before != toolbox.ways:
            self._told(toolbox)

    def _granted(self, package: Package, found: Sequence[Copy]) -> list[tuple[Tool, Target]]:
        """The tools of a package that the copies among `found` have for the agent."""
        if package.accepted is None:
            return []
        arrows = [copy.arrow for copy in found if copy.card.package == package.id]
        exposed, manifest = self._packages.exposed(package), package.accepted.manifest
        return [
            (exposed_tool(manifest, spec, exposed[spec.name], package.id), Target(package.id, spec.name))
            for spec in manifest.tools
            if spec.name not in package.disabled
            and any(arrow.tools is None or spec.name in arrow.tools for arrow in arrows)
        ]

    def _handler(self, agent: AgentInfo, target: Target) -> Handler:
        def handle(call: Call, emit: Emit) -> Awaitable[Result]:
            return self._calls.call(call, emit, agent, target)

        return handle

    def _constant(self, toolbox: Toolbox) -> Sequence[LocalTool]:
        async def list_tools(call: Call, emit: Emit) -> Result:
            tools = self.of(toolbox.agent).tools()
            toolbox.catalog.note_listed()
            shown = [tool.definition() for tool in tools if tool.name not in CONSTANT]
            return Result(text_result(_json(shown)).content, {"tools": shown})

        async def call_tool(call: Call, emit: Emit) -> Result:
            return await self._call_inner(self.of(toolbox.agent), call, emit)

        return _Local(LIST_TOOLS, list_tools), _Local(CALL_TOOL, call_tool)

    async def _call_inner(self, toolbox: Toolbox, call: Call, emit: Emit) -> Result:
        """A call made by way of `toolwire_call_tool`: a call like any other."""
        name, arguments = call.arguments["name"], as_object(call.arguments.get("arguments")) or {}
        if name in CONSTANT:
            return failed(f"{name!r} cannot be called by way of another tool; call it itself")
        inner = replace(
            call,
            id=new_id("call"),
            tool=name,
            arguments=arguments,
            parent=call.id,
            depth=call.depth + 1,
            idempotency_key=None,
            watched=False,
        )

        def relay(stamped: Stamped) -> None:
            if not isinstance(stamped.event, Finished):
                emit(stamped.event)

        try:
            submission = await self._engine.submit(inner, toolbox.catalog, relay)
        except InvalidArguments as error:
            return failed(error.message)
        except ToolwireError as error:
            return failed(error.told, error.code)
        record = submission.record
        if record.confidential:
            keep_confidential(emit)
        assert record.result is not None
        return record.result


class _Local(Struct, frozen=True):
    tool: Tool
    handler: Handler


LIST_TOOLS = Tool(
    "toolwire_list_tools",
    "Lists the tools that the user has connected to you now, with their parameters, as a JSON array. Use it when the"
    " user says that a card was connected and you see no tool of it.",
    title="List the connected tools",
    annotations={"readOnlyHint": True},
    source="canvas",
)
CALL_TOOL = Tool(
    "toolwire_call_tool",
    "Calls one of the tools that toolwire_list_tools lists, by its name, also one that is not in your own list yet."
    " Returns what the tool returns.",
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 64, "description": "The tool's name."},
            "arguments": {"type": "object", "description": "The tool's arguments, as its parameters say."},
        },
        "required": ["name"],
        "additionalProperties": False,
    },
    title="Call a connected tool",
    timeout_s=120 + WAKE_S + 2 * SPARE_S,
    source="canvas",
)
CONSTANT = (LIST_TOOLS.name, CALL_TOOL.name)


def exposed_tool(manifest: Manifest, spec: ToolSpec, exposed: str, package_id: str) -> Tool:
    """A card's tool as agents see it (cards.md 13, 14, 18, decisions 16, 36)."""
    properties = as_object(spec.input_schema.get("properties")) or {}
    return Tool(
        exposed,
        manifest.shown_description(spec),
        {**spec.input_schema, "properties": {**properties, CARD_ARGUMENT: CARD_PROPERTY}},
        title=spec.title,
        annotations={"readOnlyHint": True} if spec.read_only else None,
        timeout_s=spec.timeout_ms / 1000 + 2 * WAKE_S + SPARE_S,
        source=f"card:{package_id}:{spec.name}",
    )


def _way_of(arrow: Arrow) -> Way:
    """What of an arrow decides on tools."""
    return arrow.source, arrow.target, arrow.tools


def _grants_of(board: Board) -> tuple[Any, ...]:
    """What of a board decides which tools agents have."""
    return board.arrows, [
        (card.id, card.kind, card.package, card.agent_id, "todos" in card.content, card.content.get("canvas") is True)
        for card in board.cards.values()
    ]


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
