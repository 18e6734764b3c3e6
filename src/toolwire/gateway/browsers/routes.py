"""REST: the browser that asks, and an owner's other browsers; it signs nobody in."""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire import __version__
from toolwire.core.jsontypes import JsonObject
from toolwire.gateway.browsers.browsers import Browsers
from toolwire.gateway.browsers.cookie import Base
from toolwire.gateway.browsers.sessions import BrowserSession
from toolwire.gateway.languages import language_of
from toolwire.gateway.rest import Reader
from toolwire.surfaces.described import described
from toolwire.surfaces.rest import answer, done
from toolwire.wire.answers.agents import Browser
from toolwire.wire.answers.agents import BrowserSession as ShownSession
from toolwire.wire.rest import rfc3339


class BrowserRoutes:
    """The routes of browsers.

    Args:
        reader: reads requests.
        browsers: all browsers.
        base: where this gateway is for one who asks.
    """

    def __init__(self, reader: Reader, browsers: Browsers, base: Base) -> None:
        self._reader = reader
        self._browsers = browsers
        self._base = base

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        return (
            Route("/api/v1/browser/session", self.show, methods=["GET"]),
            Route("/api/v1/browser/sign-out", self.sign_out, methods=["POST"]),
            Route("/api/v1/browser/sessions", self.list, methods=["GET"]),
            Route("/api/v1/browser/sessions/{session_id}", self.end, methods=["DELETE"]),
        )

    @described("oag", ShownSession)
    async def show(self, request: Request) -> Response:
        """Who is signed in here; a session goes on for 30 days from now."""
        identity = self._reader.identify(request, "oag")
        session = await self._browsers.sessions.renew(identity.key_id, identity.owner)
        base = self._place(request)
        shown = {
            "session_id": None if session is None else session.session_id,
            "owner": identity.owner,
            "expires_at": None if session is None else rfc3339(session.expires_at),
            "public_url": base,
            "version": __version__,
            "trusted": identity.first_owner,
            "language": language_of(request.headers.get("accept-language", "")),
        }
        response = answer(shown)
        secret = self._browsers.cookie.secret(request.scope)
        if session is not None and self._browsers.session(request.scope) == session:
            self._browsers.cookie.keep(response, base, secret)
        return response

    @described("oag")
    async def sign_out(self, request: Request) -> Response:
        """Sign this browser out; a key stays as it is."""
        identity = self._reader.identify(request, "oag")
        known = {session.session_id for session in self._browsers.sessions.list(identity.owner)}
        if identity.key_id in known:
            await self._browsers.sessions.end(identity.owner, identity.key_id)
        return self._browsers.cookie.keep(done(), self._place(request), "")

    @described("oag", Sequence[Browser])
    async def list(self, request: Request) -> Response:
        """The browsers in which the owner is signed in, the latest first."""
        identity = self._reader.identify(request, "oag")
        return answer([_shown(each, identity.key_id) for each in self._browsers.sessions.list(identity.owner)])

    @described("oag")
    async def end(self, request: Request) -> Response:
        """Sign a browser out, from now on."""
        identity = self._reader.identify(request, "oag")
        await self._browsers.sessions.end(identity.owner, str(request.path_params["session_id"]))
        return done()

    def _place(self, request: Request) -> str:
        return self._base(request.headers.get("host", "").encode("latin-1"), request.url.scheme)


def _shown(session: BrowserSession, current: str) -> JsonObject:
    return {
        "session_id": session.session_id,
        "label": session.label,
        "by_key": session.key_id,
        "created_at": rfc3339(session.created_at),
        "seen_at": rfc3339(session.seen_at),
        "expires_at": rfc3339(session.expires_at),
        "current": session.session_id == current,
    }
