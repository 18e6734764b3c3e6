"""How a command signs in at an MCP server that wants a token: its flags and words; it sends nothing."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from toolwire.cli.environment import variable
from toolwire.cli.failure import misused
from toolwire.cli.in_browser import open_in_browser
from toolwire.providers.remote_auth import SIGN_IN_S, Auth, Credentials, Show, SignIn

SECRET_VARIABLE: Final = "TOOLWIRE_CLIENT_SECRET"
CLIENT_VARIABLE: Final = "TOOLWIRE_CLIENT_ID"


@Parameter(name="*")
@dataclass(frozen=True)
class SignInFlags:
    """What lets us in: headers, or who signs in where a server wants that and no key was given."""

    header: Annotated[
        list[str] | None, Parameter(negative="", help="One more header, `Name: value`; may be repeated.")
    ] = None
    auth: Annotated[
        bool, Parameter(name="--auth", negative="--no-auth", help="Sign in where the server wants it; the default.")
    ] = True
    open: Annotated[bool, Parameter(negative="", help="Open the link to sign in in a browser, too.")] = False
    client_id: Annotated[
        str | None, Parameter(help="Client registered at the authorization server (also: TOOLWIRE_CLIENT_ID).")
    ] = None
    client_key: Annotated[
        Path | None, Parameter(help="File with the client's private key (PEM): the client itself signs in with it.")
    ] = None
    headless: Annotated[
        bool, Parameter(negative="", help="The client itself signs in, with its secret (TOOLWIRE_CLIENT_SECRET).")
    ] = False
    issuer: Annotated[
        str | None, Parameter(help="The only authorization server that the client's secret or key is for.")
    ] = None
    scope: Annotated[str | None, Parameter(help="What to ask for, words separated by spaces.")] = None
    env: Annotated[
        list[str] | None,
        Parameter(negative="", help="A variable for a server that is a command, NAME or NAME=value; may be repeated."),
    ] = None


def auth_of_flags(flags: SignInFlags) -> Auth | None:
    """What the flags and the variables say; `None` for `--no-auth`.

    Raises:
        Failed: they do not fit together, or the key cannot be read.
    """
    if not flags.auth:
        return None
    client_id = flags.client_id or variable(CLIENT_VARIABLE)
    secret = variable(SECRET_VARIABLE)
    if not flags.headless and flags.client_key is None:
        return SignIn(
            show=shown(flags.open), client_id=client_id, client_secret=secret, issuer=flags.issuer, scope=flags.scope
        )
    if client_id is None:
        raise misused(f"a client that signs in itself has an id; pass --client-id, or set {CLIENT_VARIABLE}")
    if flags.client_key is not None:
        return Credentials(
            client_id=client_id, private_key=_pem(flags.client_key), issuer=flags.issuer, scope=flags.scope
        )
    if secret is None:
        raise misused(f"--headless needs the client's secret; set {SECRET_VARIABLE}, or pass --client-key")
    return Credentials(client_id=client_id, client_secret=secret, issuer=flags.issuer, scope=flags.scope)


def shown(browser: bool) -> Show:
    """Shows the link on stderr, and in a browser if that is wanted."""

    async def show(link: str) -> None:
        print(f"sign in here, within {SIGN_IN_S / 60:.0f} minutes:\n{link}", file=sys.stderr, flush=True)
        if browser:
            await open_in_browser(link)

    return show


def _pem(path: Path) -> str:
    try:
        return path.read_text("ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise misused(f"the private key cannot be read from {str(path)!r}: {error}") from None
