"""REST: remote MCP servers and the consents that they wait for, by their owners; it keeps nothing."""

from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.core.errors import AgentNotFound, InvalidParam
from toolwire.core.jsontypes import JsonObject
from toolwire.gateway.agent_record import AgentRecord
from toolwire.gateway.agents import Agents
from toolwire.gateway.consents import Consent
from toolwire.gateway.keys import Keys
from toolwire.gateway.remote_record import RemotePlace
from toolwire.gateway.remotes import Remotes
from toolwire.gateway.rest import Reader
from toolwire.providers.remote_oauth_store import Kept
from toolwire.surfaces.described import described
from toolwire.surfaces.rest import answer, done
from toolwire.wire.answers.remotes import Answered, Remote
from toolwire.wire.answers.remotes import Consent as ShownConsent
from toolwire.wire.rest import rfc3339

MAX_DIFF_CHARS = 64 * 1024
MAX_WORDS = 256


class SignedIn(Struct, frozen=True, forbid_unknown_fields=True):
    """What a sign-in at a remote server's authorization server gave, in the words of OAuth.

    `tokens` are the answer of the token endpoint, `client` the registration, `server` and `resource` the metadata, and
    `proof_key` the private key (PEM) that the tokens are bound to, if they are.
    """

    tokens: JsonObject
    expires_at: datetime | None = None
    client: JsonObject | None = None
    server: JsonObject | None = None
    resource: JsonObject | None = None
    proof_key: str | None = None

    def __repr__(self) -> str:
        return "SignedIn(…)"

    def kept(self) -> Kept:
        """The same as it is kept."""
        ends_at = None if self.expires_at is None else self.expires_at.timestamp()
        return Kept("", "", self.tokens, ends_at, self.client, self.server, self.resource, self.proof_key)


class NewRemote(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST /api/v1/remotes`: a `url` with `headers` or a `sign_in`, or a `command` with `env`."""

    alias: str
    url: str | None = None
    headers: dict[str, str] = {}
    command: list[str] = []
    env: dict[str, str] = {}
    sign_in: SignedIn | None = None


class ConsentAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST /api/v1/consents/{consent}`."""

    accept: bool


class RemoteRoutes:
    """The routes.

    Args:
        reader: reads requests.
        agents: all agents.
        keys: those of a server go with it.
        remotes: all remote servers.
        mcp_url: the address of an agent's MCP endpoint; by its id.
    """

    def __init__(
        self, reader: Reader, agents: Agents, keys: Keys, remotes: Remotes, mcp_url: Callable[[str], str]
    ) -> None:
        self._reader = reader
        self._agents = agents
        self._keys = keys
        self._remotes = remotes
        self._mcp_url = mcp_url

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        return (
            Route("/api/v1/remotes", self.add, methods=["POST"]),
            Route("/api/v1/remotes", self.list, methods=["GET"]),
            Route("/api/v1/remotes/{remote}", self.remove, methods=["DELETE"]),
            Route("/api/v1/remotes/{remote}/sign-in", self.sign_in, methods=["PUT"]),
            Route("/api/v1/consents", self.consents, methods=["GET"]),
            Route("/api/v1/consents/{consent}", self.consent, methods=["GET"]),
            Route("/api/v1/consents/{consent}", self.answer, methods=["POST"]),
        )

    @described("oag", Remote, 201, body=NewRemote, errors="conflict")
    async def add(self, request: Request) -> Response:
        """Put a remote MCP server behind the gateway, as an agent; its tools as listed now are accepted with that."""
        identity = self._reader.identify(request, "oag")
        body = await self._reader.body(request, NewRemote)
        _check_lines(body)
        place = RemotePlace(body.url or "", body.headers, tuple(body.command), body.env)
        tokens = None if body.sign_in is None else body.sign_in.kept()
        return answer(self._shown(await self._remotes.add(identity.owner, body.alias, place, tokens)), 201)

    @described("oag", list[Remote])
    async def list(self, request: Request) -> Response:
        """The owner's remote servers."""
        identity = self._reader.identify(request, "oag")
        return answer([self._shown(agent) for agent in self._remotes.list(identity.owner)])

    @described("oag", errors="agent_not_found")
    async def remove(self, request: Request) -> Response:
        """Forget a remote server, by its alias or its agent's id, and all that was accepted of it."""
        agent = self._named(request)
        await self._agents.remove(agent.agent_id)
        await self._keys.revoke_all(agent.owner, agent.agent_id)
        return done()

    @described("oag", Remote, body=SignedIn, errors="agent_not_found")
    async def sign_in(self, request: Request) -> Response:
        """Keep what a sign-in at a remote server gave, sealed, and connect with it from now on."""
        agent = self._named(request)
        body = await self._reader.body(request, SignedIn)
        await self._remotes.take_tokens(agent.agent_id, body.kept())
        return answer(self._shown(self._agents.get(agent.agent_id)))

    @described("oag", Sequence[ShownConsent])
    async def consents(self, request: Request) -> Response:
        """The definitions that are held until the owner accepts them, and those that it has refused."""
        identity = self._reader.identify(request, "oag")
        return answer([_shown_consent(each) for each in self._remotes.consents.list(identity.owner)])

    @described("oag", ShownConsent, errors="consent_not_found")
    async def consent(self, request: Request) -> Response:
        """One definition that is held."""
        identity = self._reader.identify(request, "oag")
        return answer(_shown_consent(self._remotes.consents.get(identity.owner, str(request.path_params["consent"]))))

    @described("oag", Answered, body=ConsentAnswer, errors="consent_not_found")
    async def answer(self, request: Request) -> Response:
        """Accept or refuse exactly the definition that was shown under this id."""
        identity = self._reader.identify(request, "oag")
        consent_id = str(request.path_params["consent"])
        body = await self._reader.body(request, ConsentAnswer)
        if body.accept:
            await self._remotes.consents.accept(identity.owner, consent_id)
        else:
            await self._remotes.consents.refuse(identity.owner, consent_id)
        return answer(Answered(consent_id=consent_id, accepted=body.accept))

    def _named(self, request: Request) -> AgentRecord:
        owner, named = self._reader.identify(request, "oag").owner, str(request.path_params["remote"])
        agent = self._agents.find(owner, named)
        if agent.owner != owner or not agent.remote:
            raise AgentNotFound(f"you have no remote server {named!r}; list them to find its name")
        return agent

    def _shown(self, agent: AgentRecord) -> Remote:
        agent_id = agent.agent_id
        kept, server = self._remotes.record(agent_id), self._remotes.find(agent_id)
        return Remote(
            agent_id=agent_id,
            alias=agent.name,
            server="" if kept is None else kept.shown,
            connected=self._remotes.connected(agent_id),
            mcp_url=self._mcp_url(agent_id),
            tools=[skill.name for skill in agent.skills],
            held=0 if server is None else len(server.upstream.held),
            sign_in=self._remotes.sign_in(agent_id),
            created_at=rfc3339(agent.created_at),
        )


def _shown_consent(consent: Consent) -> ShownConsent:
    return ShownConsent(
        consent_id=consent.consent_id,
        agent_id=consent.agent.agent_id,
        agent=consent.agent.name,
        tool=consent.tool,
        kind=consent.kind,
        state="refused" if consent.refused else "waiting",
        diff=consent.held.diff()[:MAX_DIFF_CHARS],
    )


def _check_lines(body: NewRemote) -> None:
    """Refuse what no header, variable or program can be."""
    for name, value in body.headers.items():
        if not name or not (name + value).isascii() or not (name + value).isprintable() or set(name) & set(' :"(),/'):
            raise InvalidParam(
                f"{name!r} is no header, or its value has characters that no header has", param="headers"
            )
    for name, value in body.env.items():
        if not name or "=" in name or "\0" in name + value:
            raise InvalidParam(f"{name!r} is no variable", param="env")
    if len(body.command) > MAX_WORDS or any("\0" in word for word in body.command) or "" in body.command[:1]:
        raise InvalidParam(f"a command is a program and at most {MAX_WORDS - 1} arguments", param="command")
