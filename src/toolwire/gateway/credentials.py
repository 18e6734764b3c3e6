"""Puts all that opens the gateway together: keys, grants of OAuth, sessions of browsers; it decides nothing itself."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from toolwire.config import Config
from toolwire.core.ports import Clock, Store
from toolwire.gateway.auth import Auth
from toolwire.gateway.browsers.sessions import BrowserSessions
from toolwire.gateway.keys import Keys
from toolwire.gateway.oauth.grants import Grants, Lifetimes

Doing: TypeAlias = Callable[[], Coroutine[Any, Any, None]]


class Credentials(Struct, frozen=True):
    """The parts. Call `loads` before anything else, in order, and keep each of `keeping` running while serving."""

    keys: Keys
    grants: Grants
    browsers: BrowserSessions
    auth: Auth

    @property
    def loads(self) -> Sequence[Doing]:
        """What reads them from the store."""
        return (self.keys.load, self.browsers.load, self.grants.load)

    @property
    def keeping(self) -> Sequence[Doing]:
        """What runs until it is cancelled."""
        return (self.keys.keep, self.grants.keep, self.browsers.keep)


def credentials_on(config: Config, store: Store, clock: Clock) -> Credentials:
    """All credentials, as they lie in a store."""
    keys = Keys(store, clock, config.revoked_key_ttl_s)
    lifetimes = Lifetimes(config.oauth_code_ttl_s, config.oauth_token_ttl_s, config.oauth_refresh_ttl_s)
    grants = Grants(store, clock, lifetimes)
    browsers = BrowserSessions(store, clock, keys)
    return Credentials(keys, grants, browsers, Auth(keys, grants, browsers))
