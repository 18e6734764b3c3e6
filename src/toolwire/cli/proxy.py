"""`toolwire tools serve --proxy`: an MCP server behind an endpoint of ours; what happens to a call, the parts know.

So it is served on every transport and in both revisions, with its arguments checked and its definitions pinned.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
from cyclopts import Parameter

from toolwire.cli.endpoints import endpoint_of
from toolwire.cli.failure import debugging, misused, sole
from toolwire.cli.mcp_client import auth_of_endpoint
from toolwire.cli.parameters import HostFlags
from toolwire.cli.remote_places import known_as
from toolwire.cli.sign_in import SignInFlags
from toolwire.compose import LOCAL_CALLER, ToolServer, open_tool_server
from toolwire.core.change import Change, ListChanged
from toolwire.core.errors import ToolwireError
from toolwire.providers.remote_server import HttpServer
from toolwire.surfaces.changes import Changes
from toolwire.surfaces.endpoint import Library
from toolwire.surfaces.limits import Guard

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream

    from toolwire.providers.remote_pins import PinStore
    from toolwire.providers.remote_server import Server
    from toolwire.providers.remote_upstream import About, Upstream

MAX_WANTS = 1000
MAX_TIMEOUT_S = 3600.0
MAX_AGE_S = 1.0
"""How old a list may be when it is used, of a server that does not tell of changes."""


@Parameter(name="*")
@dataclass(frozen=True)
class ProxyFlags:
    """Which MCP server to serve instead of a module, and how."""

    proxy: Annotated[
        str | None, Parameter(help="Serve the MCP server at this URL, or that this command starts, and no module.")
    ] = None
    pins: Annotated[
        Path | None, Parameter(help="With --proxy: file that keeps which tool definitions are accepted.")
    ] = None
    hold_new: Annotated[
        bool, Parameter(negative="", help="With --proxy: hold tools that appear later, until they are accepted.")
    ] = False
    per_session: Annotated[
        bool, Parameter(negative="", help="With --proxy: a session with the server for each session of a client.")
    ] = False
    timeout: Annotated[float | None, Parameter(help="With --proxy: seconds that a call may take (default: 60).")] = None


NO_PROXY = ProxyFlags()


def open_proxy(
    flags: ProxyFlags, sign_in: SignInFlags, guard: Guard | None = None
) -> AbstractAsyncContextManager[ToolServer]:
    """The server that `flags.proxy` names, behind an endpoint of ours, until the block ends.

    Args:
        flags: which server, and how it is served.
        sign_in: what lets us in there.
        guard: tells our own Host and Origin from others'; by default loopback only.

    Raises:
        Failed: a flag cannot be used.
        ToolwireError: the server cannot be reached, or what it lists cannot be served.
    """
    if flags.timeout is not None and not 0 < flags.timeout <= MAX_TIMEOUT_S:
        raise misused(f"--timeout is a number of seconds above 0 and up to {MAX_TIMEOUT_S:g}, not {flags.timeout:g}")
    return proxied(server_of(flags.proxy or "", sign_in), flags, guard)


def server_of(place: str, sign_in: SignInFlags) -> "Server":
    """The server at a URL, or that a command starts.

    Raises:
        Failed: it is neither, or what shall let us in cannot be used.
    """
    endpoint = endpoint_of(place, HostFlags(), sign_in.header or (), sign_in=sign_in)
    if endpoint.child is not None:
        return endpoint.child
    return HttpServer(endpoint.url, tuple(endpoint.headers.items()), auth=auth_of_endpoint(endpoint))


@asynccontextmanager
async def proxied(
    server: "Server", flags: ProxyFlags = NO_PROXY, guard: Guard | None = None
) -> AsyncGenerator[ToolServer]:
    """`server` behind an endpoint of ours, until the block ends; `flags` say how it is served.

    Raises:
        ToolwireError: as `open_proxy`.
    """
    from toolwire.providers.remote_pool import PoolRules, RemotePool
    from toolwire.providers.remote_upstream import Upstream

    rules = PoolRules(sharing="session" if flags.per_session else "principal", relay_logs=True)
    if not debugging():
        logging.getLogger("mcp").setLevel(logging.CRITICAL)  # it logs tracebacks of what it also raises
    failure: BaseException | None = None
    async with anyio.create_task_group() as tasks:
        pool = RemotePool(server, tasks, known_as(server), rules=rules)
        try:
            upstream = Upstream(
                pool, pin_store(flags.pins, server), LOCAL_CALLER, hold_new=flags.hold_new, max_age_s=MAX_AGE_S
            )
            await upstream.renew()
            async with _served(upstream, await upstream.about(), flags, guard) as served:
                yield served
        except Exception as error:  # noqa: BLE001 -- raised below, where no group wraps it
            failure = error
        finally:
            await pool.aclose()
    if failure is not None:
        raise sole(failure)


def pin_store(path: Path | None, server: "Server") -> "PinStore":
    """Where the accepted definitions of `server` are kept; without a file, as long as the process lasts."""
    from toolwire.providers.remote_pins import FilePins, MemoryPins

    return MemoryPins() if path is None else FilePins(path, known_as(server))


@asynccontextmanager
async def _served(
    upstream: "Upstream", about: "About", flags: ProxyFlags, guard: Guard | None
) -> AsyncGenerator[ToolServer]:
    from toolwire.providers.remote_offer import RemoteOffer

    wants, wanted = anyio.create_memory_object_stream[str](MAX_WANTS)

    def want(uri: str) -> None:
        with suppress(anyio.WouldBlock):  # a server that cannot follow tells less
            wants.send_nowait(uri)

    changes = Changes(want)
    shelf = RemoteOffer(upstream)
    library = Library(
        resources=shelf if "resources" in about.offers else None,
        prompts=shelf if "prompts" in about.offers else None,
        completions=shelf if "completions" in about.offers else None,
        changes=changes,
        look=shelf.look,
    )
    async with open_tool_server(
        [], about.name, about.version or "0", guard, library=library, title=about.title, instructions=about.instructions
    ) as served:
        endpoint = served.endpoint
        endpoint.call_timeout_s = flags.timeout or endpoint.call_timeout_s
        endpoint.max_timeout_s = max(endpoint.max_timeout_s, endpoint.call_timeout_s)
        endpoint.catalog.replace(upstream.tools(), upstream, handlers=upstream.handlers)

        def tell(change: Change) -> None:
            if change == ListChanged("tools"):
                endpoint.catalog.replace(upstream.tools(), upstream, handlers=upstream.handlers)
            changes.tell(change)

        async with wants, anyio.create_task_group() as tasks:
            tasks.start_soon(upstream.follow, tell)
            tasks.start_soon(_watch, upstream, wanted)
            yield served
            tasks.cancel_scope.cancel()


async def _watch(upstream: "Upstream", wanted: "MemoryObjectReceiveStream[str]") -> None:
    async with wanted:
        async for uri in wanted:
            with suppress(ToolwireError):  # it is told of again with the next subscription
                await upstream.watch(uri)
