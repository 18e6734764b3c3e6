"""The page on which an owner signs in, sees what a client asks for, and picks the agents; it gives out no token.

An address is trusted only when it is the client's: before that nothing is sent anywhere but to our own page. After it,
a mistake of the request leads back by itself only to this machine; to other places an owner goes by a click, because
whoever has registered a client could otherwise send people anywhere (RFC 9700, 4.11.2).
Spec: OAuth 2.1, 4.1; RFC 9207; contract gateway.md 48, D23.
"""

from collections.abc import Sequence
from urllib.parse import urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from toolwire.core.errors import Conflict
from toolwire.gateway.agents import Agents
from toolwire.gateway.auth import Auth
from toolwire.gateway.browsers.browsers import Browsers
from toolwire.gateway.oauth.clients import Client, ClientIds
from toolwire.gateway.oauth.documents import Documents, names_document
from toolwire.gateway.oauth.grants import Consent, Grants
from toolwire.gateway.oauth.page import (
    AgentChoice,
    Asked,
    consent_body,
    guarding_headers,
    page,
    refusal_body,
    sign_in_body,
)
from toolwire.gateway.oauth.places import AGENT_IS_ABSENT, Places
from toolwire.gateway.oauth.redirects import form_source, is_local, is_registered, shown_host
from toolwire.gateway.oauth.refused import Refused
from toolwire.gateway.oauth.requests import Authorization, Form, read_authorization, read_form, read_query
from toolwire.gateway.oauth.sign_ins import SignedIn, SignIns
from toolwire.gateway.oauth.visit import PAGE, Visit, shown_owner
from toolwire.surfaces.described import marked

AUTHORIZE_PATH = "/oauth/authorize"


class ConsentRoutes:
    """`/oauth/authorize`, for browsers.

    Args:
        places: where this gateway is.
        auth: knows owners by their keys.
        agents: all agents.
        ids: reads the ids of registered clients.
        documents: reads those of clients that are known by a document; `None` where none can be fetched.
        grants: makes codes.
        sign_ins: sessions of browsers that answer clients.
        browsers: those of the canvas.
    """

    def __init__(
        self,
        places: Places,
        auth: Auth,
        agents: Agents,
        ids: ClientIds,
        documents: Documents | None,
        grants: Grants,
        sign_ins: SignIns,
        browsers: Browsers,
    ) -> None:
        self._places = places
        self._auth = auth
        self._agents = agents
        self._ids = ids
        self._documents = documents
        self._grants = grants
        self._sign_ins = sign_ins
        self._browsers = browsers

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        return (Route(AUTHORIZE_PATH, self.authorize, methods=["GET", "POST"]),)

    @marked(PAGE)
    async def authorize(self, request: Request) -> Response:
        """Show the page, or take what was decided on it."""
        visit = Visit(request, self._places, self._sign_ins, self._browsers)
        if request.method == "POST":
            visit.check_origin()
        try:
            form = await read_form(request) if request.method == "POST" else None
            if form is not None and form.get("action") == "sign_in":
                return self._sign_in(visit, form)
            query = read_query(request)
            if visit.signed_in is None and names_document(query.get("client_id", "")):
                return page(sign_in_body(visit.words, wrong=False), visit.words)
            client = await self._client(query.need("client_id"))
            redirect_uri = _checked_redirect(query, client)
        except Refused as error:
            return page(refusal_body(visit.words, f"{error.error}: {error.description}"), visit.words, 400)
        try:
            asked = read_authorization(query)
            target = "" if asked.resource is None else self._target(asked.resource, visit)
        except Refused as error:
            return _sent_back(visit, redirect_uri, query, error)
        if visit.signed_in is None:
            return page(sign_in_body(visit.words, wrong=False), visit.words)
        return await self._decided(visit, visit.signed_in, form, _Question(client, redirect_uri, asked, target))

    def _sign_in(self, visit: Visit, form: Form) -> Response:
        """Begin a session by an owner's key, and come back to the same question."""
        identity = shown_owner(self._auth, form)
        if identity is None:
            return page(sign_in_body(visit.words, wrong=True), visit.words, 401)
        return visit.keep(_again(visit), self._sign_ins.begin(identity.owner, identity.key_id))

    async def _sign_out(self, visit: Visit) -> Response:
        """End what this browser is signed in by, for clients and for the canvas."""
        response = visit.keep(_again(visit), "")
        self._sign_ins.end(visit.secret)
        if visit.browser is not None:
            await self._browsers.sessions.end(visit.browser.owner, visit.browser.session_id)
            self._browsers.cookie.keep(response, visit.base, "")
        return response

    async def _client(self, client_id: str) -> Client:
        if not names_document(client_id):
            return self._ids.read(client_id)
        if self._documents is None:
            raise Refused("invalid_client", "clients must register here", 401)
        return await self._documents.read(client_id)

    def _target(self, resource: str, visit: Visit) -> str:
        """The agent that is asked for, or "" for the gateway; one that an owner who is signed in may call.

        Raises:
            Refused: `invalid_target`.
        """
        target = self._places.target(resource, visit.base)
        if target and visit.signed_in is not None:
            record = self._agents.known(target)
            if record is None or not record.mcp_enabled or not record.visible_to(visit.signed_in.owner):
                raise Refused("invalid_target", AGENT_IS_ABSENT)
        return target

    async def _decided(self, visit: Visit, signed_in: SignedIn, form: Form | None, question: "_Question") -> Response:
        """What comes of a button, or the page with the question where none was pressed."""
        purpose = visit.request.scope["query_string"]
        if form is None:
            return self._question(visit, signed_in, question)
        if not self._sign_ins.is_token(form.get("token", ""), visit.secret, purpose):
            return self._question(visit, signed_in, question, visit.words["stale"])
        action = form.get("action")
        if action == "sign_out":
            return await self._sign_out(visit)
        if action == "deny":
            return _redirect(visit, question.redirect_uri, question.asked.state, error="access_denied")
        if action != "allow":
            return self._question(visit, signed_in, question)
        offered = {agent.agent_id for agent in self._choices(signed_in.owner, question.target)}
        picked = tuple(dict.fromkeys(agent_id for agent_id in form.all("agent") if agent_id in offered))
        if not picked:
            return self._question(visit, signed_in, question, visit.words["none_picked"])
        try:
            code = self._grants.new_code(
                Consent(
                    signed_in.owner,
                    question.client.client_id,
                    question.client.name,
                    question.redirect_uri,
                    shown_host(question.redirect_uri),
                    question.asked.challenge,
                    picked,
                    question.target,
                )
            )
        except Conflict as error:
            return self._question(visit, signed_in, question, error.told)
        return _redirect(visit, question.redirect_uri, question.asked.state, code=code)

    def _question(self, visit: Visit, signed_in: SignedIn, question: "_Question", problem: str = "") -> Response:
        client, uri = question.client, question.redirect_uri
        asked = Asked(
            client.name,
            shown_host(uri),
            is_local(uri),
            (urlsplit(client.client_id).hostname or "") if client.document else "",
            self._choices(signed_in.owner, question.target),
            signed_in.owner,
            self._sign_ins.token(visit.secret, visit.request.scope["query_string"]),
        )
        return page(consent_body(visit.words, asked, problem), visit.words, 200, (form_source(uri),))

    def _choices(self, owner: str, target: str) -> list[AgentChoice]:
        """The agents to pick from: the one that is the resource, or all of the owner's that are published."""
        if target:
            record = self._agents.known(target)
            return [] if record is None else [AgentChoice(target, record.display_name or record.name, True)]
        records = [record for record in self._agents.list(owner) if record.mcp_enabled]
        return [AgentChoice(each.agent_id, each.name, len(records) == 1) for each in records]


class _Question:
    """A request that is in order, and who asks."""

    def __init__(self, client: Client, redirect_uri: str, asked: Authorization, target: str) -> None:
        self.client = client
        self.redirect_uri = redirect_uri
        self.asked = asked
        self.target = target


def _checked_redirect(query: Form, client: Client) -> str:
    redirect_uri = query.need("redirect_uri")
    if len(query.all("redirect_uri")) > 1 or len(query.all("client_id")) > 1:
        raise Refused("invalid_request", "a parameter stands more than once")
    if not is_registered(redirect_uri, client.redirect_uris):
        raise Refused("invalid_request", "redirect_uri is not one that the client has registered")
    return redirect_uri


def _again(visit: Visit) -> Response:
    """The same page by GET."""
    query = visit.request.scope["query_string"].decode("ascii", "replace")
    return RedirectResponse(f"{AUTHORIZE_PATH}?{query}", 303, guarding_headers())


def _sent_back(visit: Visit, redirect_uri: str, query: Form, error: Refused) -> Response:
    state = query.get("state")
    if is_local(redirect_uri):
        return _redirect(visit, redirect_uri, state, error=error.error, error_description=error.description)
    back = _address(visit, redirect_uri, state, error=error.error, error_description=error.description)
    told = f"{error.error}: {error.description}"
    return page(refusal_body(visit.words, told, back, shown_host(redirect_uri)), visit.words, 400)


def _redirect(visit: Visit, redirect_uri: str, state: str | None, **answer: str) -> Response:
    return Response(
        status_code=303,
        headers={**guarding_headers(), "location": _address(visit, redirect_uri, state, **answer)},
    )


def _address(visit: Visit, redirect_uri: str, state: str | None, **answer: str) -> str:
    """The client's address with an answer, its state, and who answers (RFC 9207)."""
    parameters = {**answer, **({} if state is None else {"state": state}), "iss": visit.base}
    return f"{redirect_uri}{'&' if '?' in redirect_uri else '?'}{urlencode(parameters)}"
