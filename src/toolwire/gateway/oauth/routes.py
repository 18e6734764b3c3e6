"""REST: an owner's grants, and links that sign it in with a browser, by `oag_` keys; it keeps nothing."""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.core.jsontypes import JsonObject
from toolwire.core.ports import Clock
from toolwire.gateway.oauth.grants import Grant, Grants
from toolwire.gateway.oauth.places import Places
from toolwire.gateway.oauth.sign_in import LINK_PATH
from toolwire.gateway.oauth.sign_ins import LINK_TTL_S, SignIns
from toolwire.gateway.rest import Reader
from toolwire.surfaces.described import described
from toolwire.surfaces.rest import answer, done
from toolwire.wire.answers.agents import Grant as ShownGrant
from toolwire.wire.answers.agents import SignInLink
from toolwire.wire.rest import rfc3339


class GrantRoutes:
    """The routes of grants.

    Args:
        reader: reads requests.
        grants: all grants.
        sign_ins: makes links.
        places: where this gateway is.
        clock: wall time.
    """

    def __init__(self, reader: Reader, grants: Grants, sign_ins: SignIns, places: Places, clock: Clock) -> None:
        self._reader = reader
        self._grants = grants
        self._sign_ins = sign_ins
        self._places = places
        self._clock = clock

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        return (
            Route("/api/v1/grants", self.list, methods=["GET"]),
            Route("/api/v1/grants/{grant_id}", self.revoke, methods=["DELETE"]),
            Route("/api/v1/sign-in-links", self.new_link, methods=["POST"]),
        )

    @described("oag", list[ShownGrant])
    async def list(self, request: Request) -> Response:
        """The owner's grants that hold, oldest first."""
        identity = self._reader.identify(request, "oag")
        return answer([_shown(grant) for grant in self._grants.list(identity.owner)])

    @described("oag")
    async def revoke(self, request: Request) -> Response:
        """End a grant, from now on."""
        identity = self._reader.identify(request, "oag")
        await self._grants.revoke(identity.owner, str(request.path_params["grant_id"]))
        return done()

    @described("oag", SignInLink, 201)
    async def new_link(self, request: Request) -> Response:
        """A link that signs the owner in with a browser, once."""
        identity = self._reader.identify(request, "oag")
        base = self._places.base(request.headers.get("host", "").encode("latin-1"), request.url.scheme)
        url = f"{base}{LINK_PATH}?link={self._sign_ins.new_link(identity.owner)}"
        return answer({"url": url, "expires_at": rfc3339(self._clock.now() + LINK_TTL_S)}, 201)


def _shown(grant: Grant) -> JsonObject:
    return {
        "grant_id": grant.grant_id,
        "client_name": grant.client_name,
        "client_url": grant.client_url or None,
        "redirect_host": grant.redirect_host,
        "agents": list(grant.agents),
        "created_at": rfc3339(grant.created_at),
        "renewed_at": rfc3339(grant.renewed_at),
        "expires_at": rfc3339(grant.expires_at),
    }
