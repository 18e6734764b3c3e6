"""Browsers of one gateway: their sessions and their cookie together; it has no page and no route."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from toolwire.gateway.browsers.cookie import Base, BrowserCookie
from toolwire.gateway.browsers.sessions import BrowserSession, BrowserSessions


class Browsers:
    """Signs browsers in and out.

    Args:
        sessions: all sessions; loaded by whoever made them.
        base: where this gateway is for one who asks.
    """

    def __init__(self, sessions: BrowserSessions, base: Base) -> None:
        self.sessions = sessions
        self.cookie = BrowserCookie(base)

    def session(self, scope: Any) -> BrowserSession | None:
        """Who is signed in at the browser that has sent a request, whoever has made it do so."""
        return self.sessions.find(self.cookie.secret(scope).encode("latin-1"))

    async def sign_in(self, request: Request, response: Response, base: str, owner: str, key_id: str | None) -> None:
        """Begin a session, and let the answer tell the browser.

        Args:
            request: what the browser has sent.
            response: what it is answered.
            base: where it believes us to be.
            owner: who signs in.
            key_id: the key that was pasted; `None` for a link.

        Raises:
            StoreUnavailable: the store cannot be written; nobody is signed in.
        """
        before = self.session(request.scope)
        secret = await self.sessions.begin(owner, key_id, request.headers.get("user-agent", ""))
        if before is not None:
            await self.sessions.end(before.owner, before.session_id)
        self.cookie.keep(response, base, secret)
