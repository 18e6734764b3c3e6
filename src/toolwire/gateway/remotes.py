"""The remote MCP servers behind this gateway, each an agent of its owner.

What an owner sees when a server is added is accepted with that; every tool that is new or another later is held until
the owner accepts exactly that definition. It runs no call itself.
"""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import anyio
from anyio.abc import TaskGroup

from toolwire.core.call import Caller
from toolwire.core.errors import Forbidden, InvalidParam, ServiceUnavailable, StoreUnavailable, ToolwireError
from toolwire.core.ports import Clock, Del, Put, Store
from toolwire.gateway.agent_record import AgentRecord
from toolwire.gateway.agents import Agents
from toolwire.gateway.consents import Consents
from toolwire.gateway.keys import FIRST_OWNER, scan_all
from toolwire.gateway.remote_agent import RemoteAgent
from toolwire.gateway.remote_record import (
    REMOTE_KIND,
    PlaceBox,
    RemotePlace,
    RemoteRecord,
    decode_record,
    encode_record,
)
from toolwire.gateway.remote_tokens import TOKENS_KIND, SealedTokens
from toolwire.providers.remote_auth import SignIn
from toolwire.providers.remote_oauth_store import Kept
from toolwire.providers.remote_pins import PIN_KIND, StoredPins
from toolwire.providers.remote_pool import PoolRules, RemotePool
from toolwire.providers.remote_server import HttpServer, OpenTransport, Patience, Server, StdioServer
from toolwire.providers.remote_upstream import Upstream

if TYPE_CHECKING:
    from toolwire.providers.remote_oauth import OAuth

logger = logging.getLogger("toolwire.gateway")

MAX_REMOTES = 100
"""Of one owner."""
INSTEAD: Final = "its owner does, with `toolwire remote login ALIAS`"
PATIENCE = Patience(connect_s=15.0)

SignInState: TypeAlias = Literal["none", "wanted", "done"]
"""Of the gateway at a server: nobody has to sign in as far as is known; somebody has to; somebody has."""

TransportFor: TypeAlias = Callable[[str, bool], OpenTransport]
"""What carries the requests to a URL; the second says that whoever named it may run programs here anyway.

Raises:
    InvalidParam: it is no URL that may be asked.
"""


class Remotes:
    """All remote servers of this gateway. Call `load` inside `running`.

    Args:
        agents: each server is one of them.
        store: where they are kept.
        clock: wall time.
        secret: of the gateway, which seals their credentials.
        transport_for: what carries requests to URLs.
        list_max_age_s: how old a list may be when it is used, of a server that does not tell of changes.

    Attributes:
        consents: what of all agents, remote or not, waits for consent.
    """

    def __init__(
        self,
        agents: Agents,
        store: Store,
        clock: Clock,
        secret: bytes,
        transport_for: TransportFor,
        list_max_age_s: float = 1.0,
    ) -> None:
        self._list_max_age_s = list_max_age_s
        self._agents = agents
        self._store = store
        self._clock = clock
        self._secret = secret
        self._auths: dict[str, OAuth] = {}
        self._box = PlaceBox(secret)
        self._transport_for = transport_for
        self._records: dict[str, RemoteRecord] = {}
        self._servers: dict[str, RemoteAgent] = {}
        self.consents = Consents(agents, store, self.find)
        self._tasks: TaskGroup | None = None
        agents.on_removed(self._agent_removed)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Servers are connected and followed until the block ends."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = None
                with anyio.CancelScope(shield=True):
                    async with anyio.create_task_group() as closing:
                        for server in self._servers.values():
                            closing.start_soon(server.aclose)
                tasks.cancel_scope.cancel()

    async def load(self) -> None:
        """Read all servers from the store and begin to follow them; none is waited for.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        await self.consents.load()
        for row in await scan_all(self._store, REMOTE_KIND):
            record = decode_record(row.value)
            if self._agents.known(record.agent_id) is None:  # removed, and we stopped before its row was
                await self._forget(record.owner, record.agent_id)
                continue
            self._records[record.agent_id] = record
            place = self._box.open(record)
            if place is not None:
                self._keep(self._opened(record, place))

    def find(self, agent_id: str) -> RemoteAgent | None:
        """The server behind an agent, if there is one that can be used."""
        return self._servers.get(agent_id)

    def want(self, agent_id: str, uri: str) -> None:
        """Somebody listens to a resource of a server: have that tell of it, if it does."""
        server = self._servers.get(agent_id)
        if server is not None and self._tasks is not None:
            self._tasks.start_soon(_watch, server, uri)

    def record(self, agent_id: str) -> RemoteRecord | None:
        """What is kept of the server behind an agent."""
        return self._records.get(agent_id)

    def connected(self, agent_id: str) -> bool:
        """Whether a server is connected now."""
        server = self._servers.get(agent_id)
        return server is not None and server.connected

    def list(self, owner: str) -> list[AgentRecord]:
        """An owner's remote servers, oldest first."""
        return [record for record in self._agents.list(owner) if record.remote]

    def sign_in(self, agent_id: str) -> SignInState:
        """Whether the gateway is signed in at a server, or would have to be."""
        auth = self._auths.get(agent_id)
        if auth is None or not (auth.wants_person or auth.has_tokens):
            return "none"
        return "wanted" if auth.wants_person else "done"

    async def add(self, owner: str, alias: str, place: RemotePlace, tokens: Kept | None = None) -> AgentRecord:
        """Make a server an agent of an owner; all that it lists now is accepted with that.

        With `tokens` of a sign-in, requests to the server carry them from the first on.

        Raises:
            InvalidParam: the alias or the place cannot be used: the server cannot be reached, or may not be, or it
                lists no tools and no prompts; nothing was added. `sign_in` says that somebody must sign in.
            Forbidden: it is a command, and the owner may run no programs here.
            Conflict: the owner has an agent of that name, or too many servers.
            StoreUnavailable: the store cannot be written; nothing was added.
        """
        _check_place(owner, place)
        if not place.command:
            self._transport_for(place.url, owner == FIRST_OWNER)
        if len(self.list(owner)) >= MAX_REMOTES:
            raise InvalidParam(f"you have {MAX_REMOTES} remote servers, as many as there may be; remove one")
        agent = await self._agents.create(owner, alias, remote=True)
        added = False
        try:
            sealed = self._box.seal(place, owner, agent.agent_id)
            now = self._clock.now()
            record = RemoteRecord(agent.agent_id, owner, place.shown, sealed, now, bool(place.command))
            await self._store.tx([Put(REMOTE_KIND, owner, agent.agent_id, encode_record(record), expect=0)])
            self._records[agent.agent_id] = record
            if tokens is not None:
                await self._tokens(record, place).save(tokens)
            remote = self._opened(record, place)
            await remote.settle()
            if not remote.upstream.has_pins:  # else the first ones it has some day would be accepted unseen
                words = f"the remote server {alias!r} lists no tools and no prompts, so there is nothing to accept"
                raise ServiceUnavailable(words)
            added = True
            self._keep(remote)
        except ServiceUnavailable as error:
            if isinstance(error, StoreUnavailable):
                raise
            where, wanted = "command" if place.command else "url", self.sign_in(agent.agent_id) == "wanted"
            more = {"sign_in": True} if wanted else {}
            raise InvalidParam(f"{error.message}; it was not added", param=where, **more) from None
        finally:
            if not added:
                with anyio.CancelScope(shield=True):
                    await self._agents.remove(agent.agent_id)
        return self._agents.get(agent.agent_id)

    async def take_tokens(self, agent_id: str, tokens: Kept) -> None:
        """Somebody has signed in at a server: connect anew, with these.

        Raises:
            InvalidParam: they do not let us in, or it is no server at a URL that wants a sign-in; they are kept.
            AgentNotFound: it was removed meanwhile.
            StoreUnavailable: the store cannot be written; nothing has changed.
        """
        record = self._records.get(agent_id)
        place = None if record is None else self._box.open(record)
        if record is None or place is None or place.command or _has_key(place):
            raise InvalidParam("nobody signs in at this server: it is a command, has a key, or cannot be used any more")
        await self._tokens(record, place).save(tokens)
        before = self._servers.pop(agent_id, None)
        if before is not None:
            await before.aclose()
        self._agents.get(agent_id)
        remote = self._opened(record, place)
        self._keep(remote)
        try:
            await remote.settle()
        except ServiceUnavailable as error:
            if isinstance(error, StoreUnavailable):
                raise
            raise InvalidParam(f"the tokens are kept, and do not let us in: {error.message}", param="tokens") from None

    def _tokens(self, record: RemoteRecord, place: RemotePlace) -> SealedTokens:
        return SealedTokens(self._store, self._secret, record.owner, record.agent_id, place.url)

    def _server_of(self, record: RemoteRecord, place: RemotePlace) -> Server:
        if place.command:
            return StdioServer(place.command, tuple(place.env.items()))
        transport = self._transport_for(place.url, record.owner == FIRST_OWNER)
        auth = None if _has_key(place) else _auth_of(place.url, self._tokens(record, place))
        if auth is not None:
            self._auths[record.agent_id] = auth
        return HttpServer(place.url, tuple(place.headers.items()), auth=auth, transport=transport)

    def _opened(self, record: RemoteRecord, place: RemotePlace) -> RemoteAgent:
        server, owner, agent_id = self._server_of(record, place), record.owner, record.agent_id
        name = f"the remote server {self._agents.get(agent_id).name!r}"
        pool = RemotePool(server, self._running, name, PATIENCE, PoolRules(relay_logs=True))
        pins = StoredPins(self._store, owner, agent_id)
        upstream = Upstream(pool, pins, Caller(owner, owner, "gateway"), hold_new=True, max_age_s=self._list_max_age_s)
        remote = self._servers[agent_id] = RemoteAgent(agent_id, pool, upstream, self._agents)
        return remote

    def _keep(self, remote: RemoteAgent) -> None:
        self._running.start_soon(remote.keep)

    @property
    def _running(self) -> TaskGroup:
        if self._tasks is None:
            raise ServiceUnavailable("the gateway is stopping")
        return self._tasks

    def _agent_removed(self, agent: AgentRecord) -> None:
        if agent.remote and self._tasks is not None:
            self._tasks.start_soon(self._close, agent.owner, agent.agent_id)

    async def _close(self, owner: str, agent_id: str) -> None:
        self._records.pop(agent_id, None)
        self._auths.pop(agent_id, None)
        server = self._servers.pop(agent_id, None)
        if server is not None:
            await server.aclose()
        try:
            await self._forget(owner, agent_id)
        except StoreUnavailable as error:  # the next start does it
            logger.warning("what is kept of the remote server %s stays for now: %s", agent_id, error.message)

    async def _forget(self, owner: str, agent_id: str) -> None:
        await self._store.tx([Del(kind, owner, agent_id) for kind in (REMOTE_KIND, PIN_KIND, TOKENS_KIND)])


async def _watch(server: RemoteAgent, uri: str) -> None:
    with suppress(ToolwireError):  # it is told of again with the next subscription
        await server.watch(uri)


def _has_key(place: RemotePlace) -> bool:
    """Whether the headers let us in, so that nobody is asked to sign in."""
    return any(name.lower() == "authorization" for name in place.headers)


def _auth_of(url: str, tokens: SealedTokens) -> "OAuth | None":
    """What signs requests with the tokens that are kept and renews them; `None` without the extra `mcp`."""
    try:
        from toolwire.providers.remote_sign_in import auth_of  # noqa: PLC0415 -- an optional extra
    except ImportError:
        return None
    return auth_of(url, SignIn(instead=INSTEAD), tokens)


def _check_place(owner: str, place: RemotePlace) -> None:
    if bool(place.url) is bool(place.command):
        raise InvalidParam("a remote server has either a url or a command", param="url")
    if place.command and owner != FIRST_OWNER:
        raise Forbidden("only the owner who has set up this host may add a command; add the URL of a server")
    if place.command and place.headers:
        raise InvalidParam("headers are for a server at a URL; a command has env", param="headers")
    if place.url and place.env:
        raise InvalidParam("env is for a server that a command starts; a URL has headers", param="env")
