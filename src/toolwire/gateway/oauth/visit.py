"""A browser before one of our pages: where it is, who is signed in there, and its language; it decides nothing."""

from starlette.requests import Request
from starlette.responses import Response

from toolwire.core.errors import OriginNotAllowed, Unauthorized
from toolwire.gateway.auth import Auth, Identity
from toolwire.gateway.browsers.browsers import Browsers
from toolwire.gateway.oauth.places import Places
from toolwire.gateway.oauth.requests import Form
from toolwire.gateway.oauth.sign_ins import SESSION_TTL_S, SignedIn, SignIns
from toolwire.gateway.oauth.words import Words, words_for
from toolwire.surfaces.described import FORM, HTML, Answers, Described


class Visit:
    """One request of a browser.

    Who is signed in for the canvas is so here, too. But that cookie is not sent where another place has led the browser
    to us, as a client on the web does; so there is one of an hour for that.
    """

    def __init__(self, request: Request, places: Places, sign_ins: SignIns, browsers: Browsers) -> None:
        self.request = request
        self.base = places.base(request.headers.get("host", "").encode("latin-1"), request.url.scheme)
        self.secure = self.base.startswith("https://")
        self.cookie = "__Host-toolwire-owner" if self.secure else "toolwire-owner"
        self.secret = request.cookies.get(self.cookie, "")
        self.signed_in: SignedIn | None = sign_ins.find(self.secret) if self.secret else None
        self.browser = browsers.session(request.scope)
        if self.signed_in is None and self.browser is not None:
            self.secret = browsers.cookie.secret(request.scope)
            self.signed_in = SignedIn(self.browser.owner, self.browser.expires_at, self.browser.key_id)
        self.words: Words = words_for(request.headers.get("accept-language", ""))

    def check_origin(self) -> None:
        """Refuse forms of any page but ours.

        `Guard` lets pages of this machine ask this machine; a form that decides must come from this very port, because
        browsers send cookies to all ports alike.

        Raises:
            OriginNotAllowed: it is another's.
        """
        origin, host = self.request.headers.get("origin"), self.request.headers.get("host", "")
        if origin not in (None, self.base, f"http://{host}", f"https://{host}"):
            raise OriginNotAllowed(f"forms of {origin!r} may not decide here")

    def keep(self, response: Response, secret: str) -> Response:
        """Let the browser remember a session; with "" forget it.

        Cookies know no ports: on this machine the path keeps it from most of what else runs there.
        """
        response.set_cookie(
            self.cookie,
            secret,
            max_age=int(SESSION_TTL_S) if secret else 0,
            path="/" if self.secure else "/oauth",
            secure=self.secure,
            httponly=True,
            samesite="lax",
        )
        return response


def shown_owner(auth: Auth, form: Form) -> Identity | None:
    """The owner whose key was pasted into a form; `None` where it is no owner's key that is good here."""
    try:
        identity = auth.identify([form.get("owner_key", "").strip().encode()])
    except Unauthorized:
        return None
    return identity if identity.kind == "oag" else None


PAGE = Described(
    body=dict[str, str],
    body_media=FORM,
    others={
        200: Answers("a page for a browser", {HTML: None}),
        303: Answers("back to the client, or to the same question again"),
        400: Answers("a page that says why not", {HTML: None}),
        401: Answers("the page to sign in, once more", {HTML: None}),
    },
    errors=("payload_too_large", "unsupported_media_type"),
    enveloped=False,
)
