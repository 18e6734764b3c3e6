"""Puts the canvas together on ports that are open already; it decides nothing by itself."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from msgspec import Struct
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from toolwire.canvas.app import CanvasApp
from toolwire.canvas.arrow_log import ArrowLog
from toolwire.canvas.card_calls import CardCalls
from toolwire.canvas.card_connections import CardConnections
from toolwire.canvas.card_frames import CardFrames
from toolwire.canvas.card_link import PATH as CARD_LINK
from toolwire.canvas.card_link import CardLinks
from toolwire.canvas.card_log import CardLog
from toolwire.canvas.card_methods import CardMethods
from toolwire.canvas.card_news import close_replaced, forget_removed, stop_unplaced, tell_cards
from toolwire.canvas.card_processes import CardProcesses
from toolwire.canvas.card_requests import CardRequests
from toolwire.canvas.card_setting_methods import CardSettingMethods, settings_data, tell_of_settings
from toolwire.canvas.card_settings import CardSettings
from toolwire.canvas.card_storage import CardStorage
from toolwire.canvas.card_tokens import CardTokens
from toolwire.canvas.confirmations import Confirmations
from toolwire.canvas.editor import Editor
from toolwire.canvas.errands import Errands
from toolwire.canvas.families.agents import AgentFamily
from toolwire.canvas.families.arrows import ArrowCalls
from toolwire.canvas.families.canvas import CanvasFamily
from toolwire.canvas.families.connections import ConnectionFamily
from toolwire.canvas.families.granted import Families
from toolwire.canvas.families.notes import NoteFamily
from toolwire.canvas.families.terminals import TerminalFamily
from toolwire.canvas.gateway_calls import GatewayCalls
from toolwire.canvas.identity import Directory
from toolwire.canvas.mailboxes import Mailboxes, Messages
from toolwire.canvas.own_calls import OwnCalls
from toolwire.canvas.packages import Packages
from toolwire.canvas.peers import Peers
from toolwire.canvas.rest import OwnerReader
from toolwire.canvas.routes_arrow_calls import ArrowCallRoutes
from toolwire.canvas.routes_board import BoardRoutes
from toolwire.canvas.routes_confirmations import ConfirmationRoutes
from toolwire.canvas.routes_edits import EditRoutes
from toolwire.canvas.routes_logs import LogRoutes
from toolwire.canvas.routes_packages import PackageRoutes
from toolwire.canvas.routes_settings import SettingRoutes
from toolwire.canvas.routes_terminals import TerminalRoutes
from toolwire.canvas.routes_toolboxes import ToolboxRoutes
from toolwire.canvas.routes_workspaces import WorkspaceRoutes
from toolwire.canvas.shown import Shown
from toolwire.canvas.states import CardStates
from toolwire.canvas.terminal_stream import TerminalStreams
from toolwire.canvas.terminals import Terminals
from toolwire.canvas.told import tell_of_agents, tell_of_boards, tell_of_packages, tell_of_states
from toolwire.canvas.told_toolboxes import tell_of_toolboxes
from toolwire.canvas.toolbox import Toolboxes
from toolwire.canvas.toolbox_door import ToolboxDoor
from toolwire.canvas.waking import PageWaker
from toolwire.canvas.workspaces import Workspaces
from toolwire.compose import Opened
from toolwire.config import Config
from toolwire.engine.engine import Engine
from toolwire.providers.schema import compile_validator
from toolwire.surfaces.feed import Feed
from toolwire.surfaces.limits import Guard
from toolwire.surfaces.mcp_http import HttpSettings, McpHttp
from toolwire.surfaces.rest import RestApp
from toolwire.surfaces.sessions import Sessions


class Canvas(Struct, frozen=True):
    """A canvas that serves; `app` answers the paths that `app.serves` names. `routes` are those of REST."""

    app: CanvasApp
    workspaces: Workspaces
    packages: Packages
    toolboxes: Toolboxes
    connections: CardConnections
    feed: Feed
    terminals: Terminals
    routes: Sequence[BaseRoute]


class _Cards(Struct, frozen=True):
    """What runs the calls of cards."""

    connections: CardConnections
    calls: CardCalls
    log: CardLog
    arrows: ArrowLog
    links: CardLinks
    processes: CardProcesses
    confirmations: Confirmations
    storage: CardStorage
    settings: CardSettings
    errands: Errands


@asynccontextmanager
async def canvas_on(config: Config, opened: Opened, directory: Directory, messages: Messages) -> AsyncGenerator[Canvas]:
    """A canvas until the block ends. The engine has to run already.

    Args:
        config: all settings.
        opened: the ports.
        directory: keys and agents.
        messages: reaches agents that are attached.
    """
    engine, feed = opened.engine, Feed()
    workspaces = Workspaces(opened.store, opened.clock, feed)
    packages = Packages(opened.store, opened.clock, Path(config.data) / "packages", directory.trusts)
    terminals = Terminals(Path(config.data), workspaces, directory, feed, partial(_toolbox_url, config))
    cards = _cards(config, opened, directory, workspaces, packages, feed, terminals)
    states = CardStates(directory, cards.connections, terminals)
    shown = Shown(workspaces, states)
    tell_of_boards(workspaces, feed, shown)
    tell_of_packages(packages, workspaces, feed)
    tell_of_states(workspaces, cards.connections, feed, states)
    tell_of_agents(directory, workspaces, feed, states, engine.timekeeper)
    guard = Guard(config.allowed_hosts, config.allowed_origins, config.public_url)
    frames = CardFrames(packages, opened.secret, guard, config.public_url)
    reader, editor = OwnerReader(directory, config.request_limit_bytes), Editor(workspaces, shown)
    boards = BoardRoutes(reader, workspaces, editor, shown, directory, packages, partial(_toolbox_url, config))
    kept = cards.storage, cards.settings
    routes = [
        *WorkspaceRoutes(reader, workspaces, editor, shown, feed, boards.check_card, *kept).routes(),
        *boards.routes(),
        *EditRoutes(reader, editor, shown, boards.check_card, boards.check_changed).routes(),
        *_other_routes(reader, workspaces, packages, frames, cards, terminals),
    ]
    mailboxes = Mailboxes(messages, opened.store, engine.recorder, opened.clock, config.history_ttl_s)
    arrow_calls = ArrowCalls(workspaces, cards.arrows, engine.timekeeper, cards.errands)
    families = (
        ConnectionFamily(workspaces, packages, arrow_calls, states),
        TerminalFamily(terminals, arrow_calls),
        NoteFamily(workspaces, arrow_calls),
        AgentFamily(mailboxes, terminals, arrow_calls, lambda copy: states(copy.workspace, copy.card)),
        CanvasFamily(workspaces, boards.check_card, packages.title_of),
    )
    toolboxes = Toolboxes(
        workspaces, packages, cards.calls, Families(families), engine, compile_validator, config.call_timeout_s
    )
    tell_of_toolboxes(workspaces, toolboxes, feed)
    routes += _routes_of_tools(config, reader, workspaces, directory, toolboxes, cards, engine)
    rest = RestApp(routes, guard, lambda: 'Bearer realm="canvas"')
    sessions = Sessions(
        opened.store, engine.recorder, opened.clock, opened.secret, config.session_idle_ttl_s, keeps=True
    )
    door = ToolboxDoor(directory, toolboxes)
    settings = HttpSettings(config.request_limit_bytes, config.sse_keepalive_s)
    http = McpHttp(engine, door, sessions, guard, settings, directory.held_open)
    await workspaces.load()
    await packages.load()
    await cards.settings.load()
    await mailboxes.load()
    streams = TerminalStreams(directory, workspaces, terminals)

    gateway_calls = GatewayCalls(workspaces, feed, engine)
    async with (
        http.running(),
        cards.processes.running(),
        terminals.running(),
        mailboxes.running(),
        gateway_calls.running(),
    ):
        app = CanvasApp(http, door.serves, rest, partial(_socket_at, cards.links, streams), frames, guard)
        yield Canvas(app, workspaces, packages, toolboxes, cards.connections, feed, terminals, routes)


def _cards(
    config: Config,
    opened: Opened,
    directory: Directory,
    workspaces: Workspaces,
    packages: Packages,
    feed: Feed,
    terminals: Terminals,
) -> _Cards:
    engine, clock = opened.engine, opened.clock
    log, tokens = CardLog(clock, feed), CardTokens()
    pages = PageWaker(workspaces, feed)
    processes = CardProcesses(packages, tokens, log, pages, lambda: config.public_url or "")
    connections = CardConnections(processes)
    arrows = ArrowLog(opened.store, engine.recorder, clock, feed, config.history_ttl_s)
    errands = Errands()
    calls = CardCalls(workspaces, packages, connections, arrows, engine.timekeeper, clock, errands)
    connections.on_attached(processes.make_way)
    connections.on_lost(calls.lost)
    processes.on_ended(connections.give_up)
    confirmations = Confirmations(calls, clock, feed, lambda owner: (one.id for one in workspaces.of_owner(owner)))
    storage, settings = CardStorage(opened.store), CardSettings(opened.store, opened.secret)
    peers = Peers(directory, terminals.status)
    methods = CardMethods(workspaces, peers, terminals, confirmations, storage, calls, log)
    more = {**methods.table(), **CardSettingMethods(workspaces, packages, settings).table()}
    requests = CardRequests(workspaces, packages, calls, log, more, partial(settings_data, settings, workspaces))
    links = CardLinks(directory, tokens, packages, connections, requests)
    tell_of_settings(workspaces, packages, connections, settings, feed)  # of a new copy, before that is told of
    tell_cards(workspaces, connections, requests)
    close_replaced(packages, connections)
    stop_unplaced(workspaces, processes)
    forget_removed(workspaces, packages, log, arrows, confirmations)
    return _Cards(connections, calls, log, arrows, links, processes, confirmations, storage, settings, errands)


def _other_routes(
    reader: OwnerReader,
    workspaces: Workspaces,
    packages: Packages,
    frames: CardFrames,
    cards: _Cards,
    terminals: Terminals,
) -> Sequence[BaseRoute]:
    return [
        *PackageRoutes(reader, packages, frames, workspaces, cards.storage, cards.settings).routes(),
        *SettingRoutes(reader, workspaces, packages, cards.settings).routes(),
        *LogRoutes(reader, workspaces, cards.log).routes(),
        *ConfirmationRoutes(reader, workspaces, cards.confirmations).routes(),
        *TerminalRoutes(reader, workspaces, terminals).routes(),
    ]


def _socket_at(links: CardLinks, streams: TerminalStreams, path: str) -> ASGIApp | None:
    """What answers the WebSockets of a path."""
    if path == CARD_LINK:
        return links
    return streams if streams.serves(path) else None


def _routes_of_tools(
    config: Config,
    reader: OwnerReader,
    workspaces: Workspaces,
    directory: Directory,
    toolboxes: Toolboxes,
    cards: _Cards,
    engine: Engine,
) -> Sequence[BaseRoute]:
    own_calls = OwnCalls(workspaces, directory, toolboxes, engine, cards.errands, config.call_timeout_s)
    return [
        *ToolboxRoutes(reader, workspaces, directory, toolboxes, partial(_toolbox_url, config)).routes(),
        *ArrowCallRoutes(reader, workspaces, cards.arrows, own_calls).routes(),
    ]


def _toolbox_url(config: Config, agent_id: str) -> str:
    return f"{config.public_url or ''}/{agent_id}/toolbox/mcp"
