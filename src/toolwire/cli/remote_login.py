"""`toolwire remote login`, and signing in when a server is added: in a browser here, the tokens to the gateway.

The gateway seals them and renews them; here nothing is kept.
"""

import importlib.util
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote

import anyio
from cyclopts import Parameter

from toolwire.cli.environment import variable
from toolwire.cli.failure import DONE, Failed, debugging
from toolwire.cli.output import print_json, say
from toolwire.cli.parameters import HostFlags, JsonFlag
from toolwire.cli.rest import Rest
from toolwire.cli.sign_in import CLIENT_VARIABLE, SECRET_VARIABLE, shown
from toolwire.cli.target import target_of
from toolwire.core.jsontypes import JsonObject
from toolwire.providers.remote import INSTALL, open_remote
from toolwire.providers.remote_auth import SignIn
from toolwire.providers.remote_http import shown_url
from toolwire.providers.remote_oauth_store import Kept, MemoryTokens
from toolwire.providers.remote_server import HttpServer
from toolwire.wire.rest import rfc3339

HERE = HostFlags()
CONNECT_S = 60.0
"""The gateway waits for the server meanwhile."""


@Parameter(name="*")
@dataclass(frozen=True)
class LoginFlags:
    """How somebody signs in at a server that wants that."""

    open: Annotated[bool, Parameter(negative="", help="Open the link to sign in in a browser, too.")] = False
    client_id: Annotated[
        str | None, Parameter(help="Client registered at the authorization server (also: TOOLWIRE_CLIENT_ID).")
    ] = None
    issuer: Annotated[str | None, Parameter(help="The only authorization server that the client is for.")] = None
    scope: Annotated[str | None, Parameter(help="What to ask for, words separated by spaces.")] = None

    @property
    def sign_in(self) -> SignIn:
        """The same for the client."""
        client_id, secret = self.client_id or variable(CLIENT_VARIABLE), variable(SECRET_VARIABLE)
        return SignIn(
            show=shown(self.open), client_id=client_id, client_secret=secret, issuer=self.issuer, scope=self.scope
        )


BY_LINK = LoginFlags()


def login(
    alias: Annotated[str, Parameter(help="The server's alias or id, as `remote list` shows it.")],
    /,
    *,
    flags: LoginFlags = BY_LINK,
    host: HostFlags = HERE,
    json: JsonFlag = False,
) -> int:
    """Sign in at an MCP server behind the gateway, with your browser; the gateway seals the tokens and renews them.

    With `--json`: the server, as the REST surface shows it.
    """
    with Rest(target_of(host), timeout_s=CONNECT_S) as rest:
        remotes: list[dict[str, Any]] = rest.ask("GET", "/api/v1/remotes")
        found = next((each for each in remotes if alias in (each["alias"], each["agent_id"])), None)
        if found is None:
            words = f"you have no remote server {alias!r}; `toolwire remote list` shows those that you have"
            raise Failed(words, "agent_not_found")
        if "://" not in found["server"]:
            raise Failed(f"{alias!r} is a server that a command starts; nobody signs in there", "invalid_param")
        body = signed_in(found["server"], {}, flags)
        made: dict[str, Any] = rest.ask("PUT", f"/api/v1/remotes/{quote(found['agent_id'], safe='')}/sign-in", body)
    if json:
        print_json(made)
    else:
        say(f"the gateway is signed in at {made['server']} for {alias}")
    return DONE


def signed_in(url: str, headers: Mapping[str, str], flags: LoginFlags) -> JsonObject:
    """What a sign-in at an MCP server gives, in the words of `PUT /api/v1/remotes/{remote}/sign-in`.

    Raises:
        Failed: the MCP client is not installed, or the server lets us in without a sign-in.
        ServiceUnavailable: nobody has signed in, or the server cannot be reached.
    """
    if importlib.util.find_spec("mcp") is None:
        raise Failed(INSTALL, "missing_extra")
    if not debugging():
        logging.getLogger("mcp").setLevel(logging.CRITICAL)  # it logs tracebacks of what it also raises
    auth = flags.sign_in
    kept = anyio.run(_kept, url, headers, auth)
    if kept.tokens is None:
        raise Failed(f"{shown_url(url)} lets us in without a sign-in", "conflict")
    if auth.client_id is not None and auth.client_secret is not None:
        secret = {"client_secret": auth.client_secret, "token_endpoint_auth_method": auth.client_secret_method}
        kept.client = {"client_id": auth.client_id, **secret}
    told: dict[str, Any] = {
        "tokens": kept.tokens,
        "expires_at": None if kept.expires_at is None else rfc3339(kept.expires_at),
        "client": kept.client,
        "server": kept.server,
        "resource": kept.resource,
        "proof_key": kept.proof_key,
    }
    return {name: value for name, value in told.items() if value is not None}


async def _kept(url: str, headers: Mapping[str, str], auth: SignIn) -> Kept:
    from toolwire.providers.remote_sign_in import auth_of

    store = MemoryTokens(url)
    server = HttpServer(url, tuple(headers.items()), auth=auth_of(url, auth, store))
    async with open_remote(server, shown_url(url)):
        return await store.load()
