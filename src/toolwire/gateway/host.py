"""Puts a gateway together: ports, engine, registry, message service and surfaces; it decides nothing by itself."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TypeAlias

import anyio
from msgspec import Struct
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from toolwire.compose import Opened, open_data, remote_transports
from toolwire.config import Config
from toolwire.core.call import Call
from toolwire.core.handler import Delegate, Handler
from toolwire.engine.engine import Engine
from toolwire.engine.recover import recover
from toolwire.gateway.agent_record import AgentRecord
from toolwire.gateway.agents import Agents
from toolwire.gateway.app import ALIAS, gateway_app
from toolwire.gateway.audit import Audit
from toolwire.gateway.auth import Auth
from toolwire.gateway.browsers.browsers import Browsers
from toolwire.gateway.conversations import Conversations
from toolwire.gateway.credentials import Doing, credentials_on
from toolwire.gateway.crowd import Crowd
from toolwire.gateway.deliveries import Deliveries
from toolwire.gateway.door import Behind, GatewayDoor
from toolwire.gateway.file_service import file_service
from toolwire.gateway.keys import Keys
from toolwire.gateway.library import Libraries
from toolwire.gateway.link import AgentLinks
from toolwire.gateway.message_service import message_service
from toolwire.gateway.oauth.server import open_oauth
from toolwire.gateway.oauth.sign_ins import SignIns
from toolwire.gateway.presence import Presence
from toolwire.gateway.rates import Rates
from toolwire.gateway.remote_agent import RemoteDelegate
from toolwire.gateway.remotes import Remotes
from toolwire.gateway.rest import Reader
from toolwire.gateway.rest_calls import RestCalls
from toolwire.gateway.routes_agents import AgentRoutes
from toolwire.gateway.routes_audit import AuditRoutes
from toolwire.gateway.routes_calls import CallRoutes
from toolwire.gateway.routes_channels import ChannelRoutes
from toolwire.gateway.routes_deliveries import DeliveryRoutes
from toolwire.gateway.routes_files import FileRoutes
from toolwire.gateway.routes_health import HealthRoutes
from toolwire.gateway.routes_keys import KeyRoutes
from toolwire.gateway.routes_records import RecordRoutes
from toolwire.gateway.routes_remotes import RemoteRoutes
from toolwire.gateway.shown_calls import ShownCalls
from toolwire.gateway.webhook_service import webhook_service
from toolwire.providers.agent import AgentProvider
from toolwire.providers.schema import compile_validator
from toolwire.surfaces.cors import with_cors
from toolwire.surfaces.limits import Guard
from toolwire.surfaces.mcp_http import HttpSettings, McpHttp
from toolwire.surfaces.parking import Parking
from toolwire.surfaces.rest import RestApp
from toolwire.surfaces.sealing import Seal
from toolwire.surfaces.sessions import Sessions
from toolwire.surfaces.task_state import ask_by_record

Ending: TypeAlias = Callable[[str], Awaitable[None]]


class Gateway(Struct, frozen=True):
    """A gateway that serves. `owner_key` is the first owner's key when this start has made it, else `None`.

    `routes` are those of REST.
    """

    app: ASGIApp
    auth: Auth
    keys: Keys
    agents: Agents
    presence: Presence
    engine: Engine
    owner_key: str | None
    sign_ins: SignIns
    browsers: Browsers
    remotes: Remotes
    routes: Sequence[BaseRoute]


@asynccontextmanager
async def open_gateway(config: Config) -> AsyncGenerator[Gateway]:
    """A gateway on the folder `config.data`, until the block ends. `Gateway.app` is an ASGI app without lifespan.

    Raises:
        StoreUnavailable: the folder cannot be written, or another process serves it.
    """
    async with open_data(config) as opened, gateway_on(config, opened) as gateway:
        yield gateway


def _door(config: Config, auth: Auth, agents: Agents, conversations: Conversations, behind: Behind) -> GatewayDoor:
    public_url, owns_context = config.public_url or "", conversations.owns
    return GatewayDoor(auth, agents, public_url, config.call_timeout_s, owns_context, behind)


def _http_settings(config: Config) -> HttpSettings:
    return HttpSettings(
        config.request_limit_bytes, config.sse_keepalive_s, config.lenient_versions, config.write_timeout_s
    )


def _mcp_url(config: Config, agent_id: str) -> str:
    return f"{config.public_url or ''}/{agent_id}/mcp"


def _agent_routes(
    config: Config, reader: Reader, agents: Agents, keys: Keys, presence: Presence, remotes: Remotes
) -> AgentRoutes:
    def is_online(agent_id: str) -> bool:
        return presence.desk(agent_id).online or remotes.connected(agent_id)

    return AgentRoutes(reader, agents, keys, is_online, partial(_mcp_url, config))


def _mcp_http(config: Config, opened: Opened, door: GatewayDoor, guard: Guard, auth: Auth, end: Ending) -> McpHttp:
    idle_s, limit = config.session_idle_ttl_s, config.sessions_limit
    sessions = Sessions(opened.store, opened.engine.recorder, opened.clock, opened.secret, idle_s, end, limit=limit)
    return McpHttp(opened.engine, door, sessions, guard, _http_settings(config), auth.held_open)


@asynccontextmanager
async def gateway_on(config: Config, opened: Opened) -> AsyncGenerator[Gateway]:
    """A gateway on ports that are open already, until the block ends; it keeps the engine running."""
    engine, store, clock = opened.engine, opened.store, opened.clock
    credentials = credentials_on(config, store, clock)
    keys, auth = credentials.keys, credentials.auth
    kept = file_service(config, opened)
    mail = message_service(config, opened, lambda agent_id: agents.mode_of(agent_id), kept.attachments)  # noqa: PLW0108 - made below

    def provider_for(record: AgentRecord) -> Delegate:
        settler = kept.settler(record, agents)
        if record.remote:
            return RemoteDelegate(record.agent_id, remotes.find, settler)
        return AgentProvider(record.agent_id, mail.courier, settler=settler)

    crowd = Crowd(engine, config.agent_calls_limit, config.owner_calls_limit)
    agents = Agents(store, clock, compile_validator, crowd.limited(provider_for), config.fallback_tool)
    remotes = Remotes(agents, store, clock, opened.secret, remote_transports(config), config.remote_list_max_age_s)
    guard = Guard(config.allowed_hosts, config.allowed_origins, config.public_url)
    parking = Parking(engine.timekeeper, Seal(opened.secret, clock))
    hooks = webhook_service(config, opened, agents)
    audit = Audit(store, engine.recorder, clock, config.audit_bodies, config.audit_ttl_s)
    engine.observers += [audit.observe, ask_by_record(engine)]
    rates = Rates(config.rate_limit_per_minute, config.owner_rate_limit_per_minute)
    behind = Behind(Libraries(agents, mail.presence.asks, remotes.find, remotes.want), parking, hooks.webhooks, rates)
    door = _door(config, auth, agents, mail.conversations, behind)
    oauth = open_oauth(opened, credentials.grants, auth, agents, credentials.browsers, lambda: door.public_url)
    http = _mcp_http(config, opened, door, guard, auth, mail.conversations.end)
    links = AgentLinks(auth, agents, mail.presence, mail.channels, clock, config.reply_limit_bytes)
    reader = Reader(auth, agents, config.request_limit_bytes)
    rest_calls = RestCalls(engine, agents, mail.conversations.owns, hooks.webhooks)
    routes: Sequence[BaseRoute] = [
        *_agent_routes(config, reader, agents, keys, mail.presence, remotes).routes(),
        *RemoteRoutes(reader, agents, keys, remotes, partial(_mcp_url, config)).routes(),
        *KeyRoutes(reader, agents, keys).routes(),
        *oauth.routes(reader),
        *HealthRoutes(store, clock).routes(),
        *ChannelRoutes(reader, agents, mail.channels, clock, config.reply_limit_bytes, kept.attachments).routes(),
        *DeliveryRoutes(reader, Deliveries(mail.presence, clock)).routes(),
        *hooks.routes(reader).routes(),
        *AuditRoutes(reader, audit).routes(),
        *RecordRoutes(reader, engine, agents, ShownCalls(agents, keys, clock, config.call_bodies)).routes(),
        *CallRoutes(reader, engine, agents, rest_calls, rates, mail.channels, mail.courier.is_waiting).routes(),
        *FileRoutes(reader, kept.files, clock).routes(),
    ]
    app = with_cors(gateway_app(http, door.serves, RestApp(routes, guard, door.challenge, ALIAS), links, guard), guard)

    def resume_with(call: Call) -> Handler | None:
        known = agents.known(call.agent_id)
        return None if known is None or known.remote else provider_for(known).resume

    running = (engine.running(), parking.running(), remotes.running(), http.running())
    loads = (*credentials.loads, *(each.load for each in (agents, remotes, hooks.shelf, audit)), mail.take_up)
    keeping = (*credentials.keeping, *mail.keeping, kept.files.keep, hooks.outbox.keep, audit.keep)
    async with _upkeep(running, loads, keeping):
        owner_key = await keys.ensure_first_owner()
        await recover(engine, resume_with)
        yield Gateway(
            app, auth, keys, agents, mail.presence, engine, owner_key, oauth.sign_ins, oauth.browsers, remotes, routes
        )


@asynccontextmanager
async def _upkeep(
    running: Iterable[AbstractAsyncContextManager[object]], loads: Iterable[Doing], keeping: Iterable[Doing]
) -> AsyncGenerator[None]:
    """What runs as long as the gateway does: first all of `running`, then what `loads` read, then all of `keeping`."""
    async with AsyncExitStack() as stack:
        for each in running:
            await stack.enter_async_context(each)
        async with anyio.create_task_group() as tasks:
            for load in loads:
                await load()
            for keep in keeping:
                tasks.start_soon(keep)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()
