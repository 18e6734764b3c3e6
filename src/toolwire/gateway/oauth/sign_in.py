"""The page on which an owner signs a browser in, by a link that works once or by a key; it shows no canvas.

Whoever signs in here is signed in for the canvas, and for an hour to answer OAuth clients.
"""

import re
from collections.abc import Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from toolwire.gateway.auth import Auth
from toolwire.gateway.browsers.browsers import Browsers
from toolwire.gateway.oauth.page import arrival_body, guarding_headers, link_body, page
from toolwire.gateway.oauth.places import Places
from toolwire.gateway.oauth.refused import Refused
from toolwire.gateway.oauth.requests import read_form
from toolwire.gateway.oauth.sign_ins import SignIns
from toolwire.gateway.oauth.visit import PAGE, Visit, shown_owner
from toolwire.surfaces.described import marked

LINK_PATH: Final = "/sign-in"
OLD_LINK_PATH: Final = "/mcp-login"
"""The same page, by the name that clients of the gateway know (gateway.md 48)."""
HOME: Final = "/"
_OURS = re.compile(r"/(?:w|gateway)/[\w./-]{0,200}", re.ASCII)


class SignInRoutes:
    """`/sign-in`.

    Args:
        places: where this gateway is.
        auth: knows owners by their keys.
        sign_ins: links, and sessions for OAuth.
        browsers: sessions for the canvas.
    """

    def __init__(self, places: Places, auth: Auth, sign_ins: SignIns, browsers: Browsers) -> None:
        self._places = places
        self._auth = auth
        self._sign_ins = sign_ins
        self._browsers = browsers

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        return tuple(Route(path, self.sign_in, methods=["GET", "POST"]) for path in (LINK_PATH, OLD_LINK_PATH))

    @marked(PAGE)
    async def sign_in(self, request: Request) -> Response:
        """Sign a browser in; by a link that is a page with a button, so that a mere look uses nothing up."""
        visit = Visit(request, self._places, self._sign_ins, self._browsers)
        link = request.query_params.get("link", "")
        if request.method == "POST":
            visit.check_origin()
            return await (self._by_link(visit, link) if link else self._by_key(visit))
        if not link:
            return _onward(visit) if visit.browser is not None else page(arrival_body(visit.words), visit.words)
        owner = self._sign_ins.link_owner(link)
        return _stale(visit) if owner is None else page(link_body(visit.words, owner), visit.words)

    async def _by_link(self, visit: Visit, link: str) -> Response:
        owner = self._sign_ins.link_owner(link)
        session = self._sign_ins.use_link(link)
        if owner is None or session is None:
            return await self._by_key(visit) if _has_form(visit) else _stale(visit)
        return await self._signed_in(visit, session, owner, None)

    async def _by_key(self, visit: Visit) -> Response:
        try:
            identity = shown_owner(self._auth, await read_form(visit.request))
        except Refused:
            identity = None
        if identity is None:
            return page(arrival_body(visit.words, visit.words["bad_key"]), visit.words, 401)
        session = self._sign_ins.begin(identity.owner, identity.key_id)
        return await self._signed_in(visit, session, identity.owner, identity.key_id)

    async def _signed_in(self, visit: Visit, session: str, owner: str, key_id: str | None) -> Response:
        response = visit.keep(_onward(visit), session)
        await self._browsers.sign_in(visit.request, response, visit.base, owner, key_id)
        return response


def _onward(visit: Visit) -> Response:
    """To the canvas, or to where on it the browser was on its way."""
    wanted = visit.request.query_params.get("next", HOME)
    place = wanted if _OURS.fullmatch(wanted) and ".." not in wanted else HOME
    return RedirectResponse(place, 303, guarding_headers())


def _stale(visit: Visit) -> Response:
    return page(arrival_body(visit.words, visit.words["link_bad"]), visit.words, 400)


def _has_form(visit: Visit) -> bool:
    return visit.request.headers.get("content-length", "0") != "0"
