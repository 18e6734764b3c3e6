"""Puts the authorization server together; it decides nothing by itself."""

from collections.abc import Callable, Sequence

from starlette.routing import Route

from toolwire.compose import Opened, open_documents
from toolwire.core.ports import Clock
from toolwire.gateway.agents import Agents
from toolwire.gateway.auth import Auth
from toolwire.gateway.browsers.browsers import Browsers
from toolwire.gateway.browsers.routes import BrowserRoutes
from toolwire.gateway.browsers.sessions import BrowserSessions
from toolwire.gateway.oauth.clients import ClientIds
from toolwire.gateway.oauth.consent import ConsentRoutes
from toolwire.gateway.oauth.documents import Documents, Fetch
from toolwire.gateway.oauth.grants import Grants
from toolwire.gateway.oauth.places import Places
from toolwire.gateway.oauth.routes import GrantRoutes
from toolwire.gateway.oauth.sign_in import SignInRoutes
from toolwire.gateway.oauth.sign_ins import SignIns
from toolwire.gateway.oauth.tokens import TokenRoutes
from toolwire.gateway.rest import Reader


def open_oauth(
    opened: Opened, grants: Grants, auth: Auth, agents: Agents, sessions: BrowserSessions, public_url: Callable[[], str]
) -> "OAuth":
    """The authorization server of a gateway on ports that are open already."""
    places = Places(public_url)
    browsers = Browsers(sessions, places.base)
    return OAuth(grants, auth, agents, opened.secret, opened.clock, places, open_documents(), browsers)


class OAuth:
    """OAuth 2.1 of one gateway.

    Args:
        grants: what owners have granted; loaded by whoever made it.
        auth: knows owners by their keys.
        agents: all agents.
        secret: makes clients' ids; it must outlive a restart.
        clock: wall time.
        places: where this gateway is.
        fetch: gets documents on clients; `None` where clients must register.
        browsers: those in which an owner is signed in for the canvas.

    Attributes:
        sign_ins: links that sign browsers in, and sessions that answer clients.
        browsers: see above.
    """

    def __init__(
        self,
        grants: Grants,
        auth: Auth,
        agents: Agents,
        secret: bytes,
        clock: Clock,
        places: Places,
        fetch: Fetch | None,
        browsers: Browsers,
    ) -> None:
        ids = ClientIds(secret)
        documents = None if fetch is None else Documents(fetch, clock)
        self._grants = grants
        self._places = places
        self._clock = clock
        self.sign_ins = SignIns(clock)
        self.browsers = browsers
        auth.on_revoked(self.sign_ins.revoked)
        self._sign_in = SignInRoutes(places, auth, self.sign_ins, browsers)
        self._consent = ConsentRoutes(places, auth, agents, ids, documents, grants, self.sign_ins, browsers)
        self._tokens = TokenRoutes(places, agents, ids, grants, clock, documents is not None)

    def routes(self, reader: Reader) -> Sequence[Route]:
        """What to mount."""
        grants = GrantRoutes(reader, self._grants, self.sign_ins, self._places, self._clock)
        browsers = BrowserRoutes(reader, self.browsers, self._places.base)
        return (
            *self._sign_in.routes(),
            *self._consent.routes(),
            *self._tokens.routes(),
            *grants.routes(),
            *browsers.routes(),
        )
