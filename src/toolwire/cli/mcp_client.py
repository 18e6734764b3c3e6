"""The official MCP client, opened for one command, its errors put into our words; it prints nothing.

It comes with the extra `mcp`, and is imported when a command needs it.
"""

import importlib.util
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import anyio
import httpx2

from toolwire import __version__
from toolwire.cli.endpoints import Endpoint
from toolwire.cli.failure import Failed, debugging, sole
from toolwire.providers.remote_auth import SignInFailed
from toolwire.providers.remote_oauth_store import FOLDER, FileTokens, MemoryTokens
from toolwire.providers.remote_server import StdioServer

if TYPE_CHECKING:
    from mcp import Client, MCPError

    from toolwire.providers.remote_oauth import OAuth

CONNECT_S = 10.0


@asynccontextmanager
async def connected(endpoint: Endpoint) -> AsyncGenerator["Client"]:
    """A client of the endpoint, in whatever protocol revision the server speaks, while the block lasts.

    Raises:
        Failed: the client is not installed, nobody answers, or the server refuses; out of the block too.

    Cancellation: what the server is at work on for us is cancelled.
    """
    if importlib.util.find_spec("mcp") is None:
        raise Failed('this command needs the MCP client; install it with: pip install "mcp>=2.3"', "missing_extra")
    if not debugging():
        logging.getLogger("mcp").setLevel(logging.CRITICAL)  # it logs tracebacks of what it also raises
    child = endpoint.child
    async with _at_url(endpoint) if child is None else _started(endpoint, child) as client:
        yield client


@asynccontextmanager
async def _at_url(endpoint: Endpoint) -> AsyncGenerator["Client"]:
    from mcp import Client, MCPError
    from mcp.client.streamable_http import streamable_http_client
    from mcp.types import Implementation

    refusals: list[int] = []
    timeout = httpx2.Timeout(CONNECT_S, read=None)  # a tool may be silent for as long as it likes

    async def remember(response: httpx2.Response) -> None:
        if response.status_code >= 400:
            refusals.append(response.status_code)

    hooks: Any = {"response": [remember]}
    try:
        async with (
            httpx2.AsyncClient(
                headers=endpoint.headers, timeout=timeout, event_hooks=hooks, auth=auth_of_endpoint(endpoint)
            ) as http,
            Client(
                streamable_http_client(endpoint.url, http_client=http, max_sse_event_size=None),
                client_info=Implementation(name="toolwire", version=__version__),
            ) as client,
        ):
            yield client
    except Exception as error:  # noqa: BLE001 -- told in our words, or raised as it is
        match sole(error):
            case MCPError() as refused:
                raise refusal(refused, endpoint, refusals[-1] if refusals else None) from None
            case httpx2.HTTPError() | httpx2.InvalidURL() as lost:
                raise _unreachable(lost, endpoint) from None
            case SignInFailed() as unsigned:
                raise Failed(unsigned.message, "unauthorized") from None
            case anyio.ClosedResourceError() | anyio.BrokenResourceError() | anyio.EndOfStream():
                raise Failed(f"{endpoint.url} closed the connection before it answered", "no_host") from None
            case other:
                raise other from None


@asynccontextmanager
async def _started(endpoint: Endpoint, server: StdioServer) -> AsyncGenerator["Client"]:
    from mcp import Client, MCPError
    from mcp.types import Implementation

    from toolwire.providers.remote_stdio import Tail, child_process

    tail = Tail()
    own = Implementation(name="toolwire", version=__version__)
    try:
        async with Client(cast("Any", child_process(server, tail)), client_info=own) as client:
            yield client
    except Exception as error:  # noqa: BLE001 -- told in our words, or raised as it is
        match sole(error):
            case MCPError(code=-32000):  # the connection is closed
                words = tail.text(tuple(value for _, value in server.env))
                said = f"; the last it wrote to stderr was:\n{words}" if words else ""
                raise Failed(f"{endpoint.url!r} ended before it answered{said}", "agent_lost") from None
            case MCPError() as refused:
                raise refusal(refused, endpoint, None) from None
            case OSError() as unstarted:
                why = unstarted.strerror or unstarted
                raise Failed(f"{server.argv[0]!r} cannot be started: {why}", "system") from None
            case other:
                raise other from None


def auth_of_endpoint(endpoint: Endpoint) -> "OAuth | None":
    """What signs the requests, if somebody signs in."""
    if endpoint.auth is None:
        return None
    from toolwire.providers.remote_sign_in import auth_of

    data = endpoint.data
    store = MemoryTokens(endpoint.url) if data is None else FileTokens(data.path / FOLDER, endpoint.url, data.prepare)
    made = auth_of(endpoint.url, endpoint.auth, store)
    made.clocks = endpoint.clocks
    return made


def refusal(error: "MCPError", endpoint: Endpoint, status: int | None) -> Failed:
    """What to tell of an error that the server answered; our own hosts name a code in its data."""
    given: object = error.data
    data = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    if "code" not in data and status is not None:
        return Failed(
            f"{endpoint.url} answered HTTP {status} and not as an MCP server does ({error.message}); "
            "is the address right?",
            "refused",
            data={"jsonrpc": error.code, "http": status},
        )
    return Failed(error.message, str(data.get("code", "refused")), data={**data, "jsonrpc": error.code})


def _unreachable(error: Exception, endpoint: Endpoint) -> Failed:
    reason = str(error) or type(error).__name__
    return Failed(f"nobody answers at {endpoint.url}: {reason[:1].lower()}{reason[1:]}", "no_host")
