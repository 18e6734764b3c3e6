"""`toolwire sign-in`: a link that signs a browser in at a running host; it keeps nothing."""

from typing import Annotated, Any

import anyio
from cyclopts import Parameter

from toolwire.cli.failure import DONE
from toolwire.cli.in_browser import open_in_browser
from toolwire.cli.output import print_json, print_text, say
from toolwire.cli.parameters import HostFlags, JsonFlag
from toolwire.cli.rest import Rest
from toolwire.cli.target import target_of

HERE = HostFlags()


def sign_in(
    *,
    host: HostFlags = HERE,
    in_browser: Annotated[bool, Parameter(name="--open", negative="", help="Open the link in a browser, too.")] = False,
    json: JsonFlag = False,
) -> int:
    """Print a link that signs you in with a browser, once: to the canvas, and to answer OAuth clients.

    With `--json`: `{"url", "expires_at"}`.
    """
    with Rest(target_of(host)) as rest:
        link: dict[str, Any] = rest.ask("POST", "/api/v1/sign-in-links")
    if json:
        print_json(link)
    else:
        print_text(link["url"])
        say("open it in your browser within an hour; it works once, and for whoever has it")
    if in_browser:
        anyio.run(open_in_browser, link["url"])
    return DONE
