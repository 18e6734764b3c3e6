"""Puts the two faces, gateway and canvas, on one engine and one port; each is told of the other by a port alone."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct
from starlette.types import ASGIApp, Receive, Scope, Send

from toolwire.canvas.host import Canvas, canvas_on
from toolwire.canvas.identity import AgentInfo, Visitor
from toolwire.canvas.page_files import PageFiles
from toolwire.compose import open_data
from toolwire.config import Config
from toolwire.core.call import Call, Caller
from toolwire.core.errors import AgentNotFound, Forbidden, ToolwireError
from toolwire.core.ids import new_id
from toolwire.core.result import Result, failed
from toolwire.gateway.agents import AgentRecord
from toolwire.gateway.host import Gateway, gateway_on
from toolwire.gateway.keys import FIRST_OWNER
from toolwire.gateway.registration import MESSAGE_TOOL
from toolwire.surfaces.cors import with_cors
from toolwire.surfaces.document import DOCUMENT_PATH, PAGE_PATH, DocumentRoutes
from toolwire.surfaces.held_open import HeldOpen
from toolwire.surfaces.limits import Guard
from toolwire.surfaces.rest import RestApp
from toolwire.wire.card_messages import AgentRef

PAGE_FOLDER = Path(__file__).resolve().parents[1] / "page"
"""Where the build puts the page of the canvas (scripts/build_web.py)."""

MESSAGE_TIMEOUT_S = 600.0
"""How long an agent may take to answer another's message."""


class Host(Struct, frozen=True):
    """Everything that one port serves. `app` is an ASGI app without lifespan."""

    app: ASGIApp
    gateway: Gateway
    canvas: Canvas


@asynccontextmanager
async def open_host(config: Config) -> AsyncGenerator[Host]:
    """Gateway and canvas on the folder `config.data`, until the block ends.

    Raises:
        StoreUnavailable: the folder cannot be written, or another process serves it.
    """
    async with (
        open_data(config) as opened,
        gateway_on(config, opened) as gateway,
        canvas_on(config, opened, GatewayDirectory(gateway), GatewayMessages(gateway)) as canvas,
    ):
        app = _joined(gateway, canvas, _document(config, gateway, canvas), _page(config, gateway))
        yield Host(app, gateway, canvas)


def _document(config: Config, gateway: Gateway, canvas: Canvas) -> ASGIApp:
    guard = Guard(config.allowed_hosts, config.allowed_origins, config.public_url)
    routes = DocumentRoutes([*gateway.routes, *canvas.routes]).routes()
    return with_cors(RestApp(routes, guard, lambda: "Bearer"), guard)


def _page(config: Config, gateway: Gateway) -> PageFiles:
    def is_signed_in(scope: Scope) -> bool:
        return gateway.browsers.session(scope) is not None

    return PageFiles(PAGE_FOLDER, is_signed_in, Guard(config.allowed_hosts, config.allowed_origins, config.public_url))


def _joined(gateway: Gateway, canvas: Canvas, document: ASGIApp, page: PageFiles) -> ASGIApp:
    """Everything on one port. What a browser is signed in by stands where keys do before any face looks."""
    as_key = gateway.browsers.cookie.as_key

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] in (DOCUMENT_PATH, PAGE_PATH):
            await document(scope, receive, send)
        elif scope["type"] == "http" and page.serves(scope["path"]):
            await page(scope, receive, send)
        elif scope["type"] == "lifespan":
            await gateway.app(scope, receive, send)
        elif canvas.app.serves(scope["path"]):
            await canvas.app(as_key(scope), receive, send)
        else:
            await gateway.app(as_key(scope), receive, send)

    return app


class GatewayDirectory:
    """The gateway's keys and agents, as the canvas asks for them; see `canvas.identity.Directory`."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    @property
    def held_open(self) -> HeldOpen:
        """What keys hold open."""
        return self._gateway.auth.held_open

    def visitor(self, credentials: Sequence[bytes]) -> Visitor:
        """Who carries these credentials."""
        identity = self._gateway.auth.identify(credentials)
        if identity.kind == "bak":
            raise Forbidden("a bak_ key calls one agent and opens nothing else; use an oag_ key")
        trusted = self.trusts(identity.owner)
        return Visitor(identity.owner, identity.principal, identity.agent_id, trusted, identity.key_id)

    def trusts(self, owner: str) -> bool:
        """Whether an owner may run programs on this machine: the first one, who has its files anyway."""
        return owner == FIRST_OWNER

    def agent(self, owner: str, id_or_name: str) -> AgentInfo:
        """An agent of this owner."""
        record = self._gateway.agents.find(owner, id_or_name)
        if record.owner != owner:
            raise AgentNotFound(f"you have no agent {id_or_name!r}")
        return self._info(record)

    def on_presence(self, listener: Callable[[str], None]) -> None:
        """Tell `listener` of agents that come and go."""
        self._gateway.presence.on_changed(listener)

    async def new_agent(self, owner: str, name: str) -> AgentInfo:
        """Make an agent; a taken name gets a number."""
        agents = self._gateway.agents
        taken = {record.name for record in agents.list(owner)}
        names = (name, *(f"{name}-{number}" for number in range(2, len(taken) + 3)))
        return self._info(await agents.create(owner, next(free for free in names if free not in taken)))

    async def new_agent_key(self, owner: str, agent_id: str, label: str = "toolbox") -> str:
        """A key for an agent."""
        _, secret = await self._gateway.keys.create("agk", owner, agent_id, label)
        return secret

    async def revoke_agent_keys(self, owner: str, agent_id: str, label: str) -> None:
        """Revoke an agent's keys with this label."""
        for record in self._gateway.keys.list(owner, agent_id):
            if record.name == label and record.active:
                await self._gateway.keys.revoke(owner, record.key_id)

    def _info(self, record: AgentRecord) -> AgentInfo:
        online = self._gateway.presence.desk(record.agent_id).online
        return AgentInfo(record.agent_id, record.owner, record.name, online)


class GatewayMessages:
    """Messages to agents that are attached to the gateway; see `canvas.mailboxes.Messages`."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def takes(self, owner: str, agent_id: str) -> bool:
        """Whether an agent is there and has a tool for messages."""
        record = self._gateway.agents.known(agent_id)
        if record is None or record.owner != owner or not self._gateway.presence.desk(agent_id).online:
            return False
        return any(entry.tool.name == MESSAGE_TOOL for entry in self._gateway.agents.catalog(agent_id))

    async def hand(self, owner: str, agent_id: str, sender: AgentRef, text: str, cause: Call) -> Result:
        """Call an agent's tool for messages."""
        engine = self._gateway.engine
        call = Call(
            new_id("call"),
            Caller(owner, owner, "toolbox"),
            MESSAGE_TOOL,
            {"message": f"Message from the agent {sender.name!r}:\n\n{text}"},
            engine.clock.now() + MESSAGE_TIMEOUT_S,
            agent_id,
            parent=cause.id,
            depth=cause.depth + 1,
        )
        try:
            submission = await engine.submit(call, self._gateway.agents.catalog(agent_id))
        except ToolwireError as error:
            return failed(error.told, error.code)
        return submission.record.result or failed("the agent gave no answer", "agent_lost")
