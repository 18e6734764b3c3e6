"""Puts the two faces, gateway and canvas, on one engine and one port; each is told of the other by a port alone."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from msgspec import Struct
from starlette.types import ASGIApp, Receive, Scope, Send

from toolwire.canvas.host import Canvas, canvas_on
from toolwire.canvas.identity import AgentInfo, Visitor
from toolwire.compose import open_data
from toolwire.config import Config
from toolwire.core.errors import AgentNotFound, Forbidden
from toolwire.gateway.agents import AgentRecord
from toolwire.gateway.host import Gateway, gateway_on
from toolwire.gateway.keys import FIRST_OWNER


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
        canvas_on(config, opened, GatewayDirectory(gateway)) as canvas,
    ):
        yield Host(_joined(gateway.app, canvas), gateway, canvas)


def _joined(gateway: ASGIApp, canvas: Canvas) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan" and canvas.app.serves(scope["path"]):
            await canvas.app(scope, receive, send)
        else:
            await gateway(scope, receive, send)

    return app


class GatewayDirectory:
    """The gateway's keys and agents, as the canvas asks for them; see `canvas.identity.Directory`."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def visitor(self, credentials: Sequence[bytes]) -> Visitor:
        """Who carries these credentials."""
        identity = self._gateway.auth.identify(credentials)
        if identity.kind == "bak":
            raise Forbidden("a bak_ key calls one agent and opens nothing else; use an oag_ key")
        return Visitor(identity.owner, identity.principal, identity.agent_id, self.trusts(identity.owner))

    def trusts(self, owner: str) -> bool:
        """Whether an owner may run programs on this machine: the first one, who has its files anyway."""
        return owner == FIRST_OWNER

    def agent(self, owner: str, id_or_name: str) -> AgentInfo:
        """An agent of this owner."""
        record = self._gateway.agents.find(owner, id_or_name)
        if record.owner != owner:
            raise AgentNotFound(f"you have no agent {id_or_name!r}")
        return self._info(record)

    async def new_agent(self, owner: str, name: str) -> AgentInfo:
        """Make an agent; a taken name gets a number."""
        agents = self._gateway.agents
        taken = {record.name for record in agents.list(owner)}
        names = (name, *(f"{name}-{number}" for number in range(2, len(taken) + 3)))
        return self._info(await agents.create(owner, next(free for free in names if free not in taken)))

    async def new_agent_key(self, owner: str, agent_id: str) -> str:
        """A key for an agent."""
        _, secret = await self._gateway.keys.create("agk", owner, agent_id, "toolbox")
        return secret

    async def replace_agent_key(self, owner: str, agent_id: str, label: str) -> str:
        """A key for an agent, in place of the last one with this label."""
        keys = self._gateway.keys
        for record in keys.list(owner, agent_id):
            if record.name == label and record.active:
                await keys.revoke(owner, record.key_id)
        _, secret = await keys.create("agk", owner, agent_id, label)
        return secret

    def _info(self, record: AgentRecord) -> AgentInfo:
        online = self._gateway.presence.desk(record.agent_id).online
        return AgentInfo(record.agent_id, record.owner, record.name, online)
