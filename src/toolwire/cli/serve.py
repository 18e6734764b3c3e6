"""`toolwire tools serve`: what a module or another MCP server offers, on stdio or HTTP; it runs no tools itself."""

import contextlib
import os
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from types import ModuleType
from typing import Annotated, Any, TypeAlias, cast

import anyio
from cyclopts import Parameter

from toolwire.cli import modules
from toolwire.cli.failure import DONE, Failed, misused
from toolwire.cli.listening import bind, event_loop, serving, set_up_logging, stop_signal, url_of
from toolwire.cli.output import print_json, say
from toolwire.cli.parameters import JsonFlag
from toolwire.cli.proxy import NO_PROXY, ProxyFlags, open_proxy
from toolwire.cli.sign_in import SignInFlags
from toolwire.compose import ToolServer
from toolwire.sdk.bundle import SdkMcpServer
from toolwire.sdk.tool import DecoratedTool
from toolwire.server import Server
from toolwire.surfaces.limits import Guard

MCP_PATH = "/mcp"
DEFAULT_PORT = 8095
BY_LINK = SignInFlags()

Opening: TypeAlias = Callable[[Guard], AbstractAsyncContextManager[ToolServer]]


def serve(
    module: Annotated[
        str | None, Parameter(help="MODULE or MODULE:NAME; a dotted module or a Python file.", show_default=False)
    ] = None,
    /,
    *,
    stdio: Annotated[bool, Parameter(negative="", help="Serve on stdin and stdout; this is the default.")] = False,
    http: Annotated[bool, Parameter(negative="", help="Serve over HTTP on this machine, at /mcp.")] = False,
    port: Annotated[
        int | None, Parameter(help=f"Port for --http (default: {DEFAULT_PORT}); 0 takes a free one.")
    ] = None,
    origin: Annotated[
        list[str] | None,
        Parameter(
            negative="", help="With --http: a web page's origin that may ask, https://app.example.com; may be repeated."
        ),
    ] = None,
    proxied: ProxyFlags = NO_PROXY,
    sign_in: SignInFlags = BY_LINK,
    json: JsonFlag = False,
) -> int:
    """Serve a `Server`, `@tool` functions, or a bundle made by `create_sdk_mcp_server`, over MCP; or an MCP server.

    Without NAME all servers, tools and bundles of the module are served. With `--http --json` one line is printed once
    it is ready: `{"url", "pid"}`.

    With `--proxy` another MCP server is served: every client reaches it, in whatever revision of the protocol either
    speaks, with arguments checked before it sees them. A tool whose definition changes is not called any more until
    `tools accept` accepts the change.
    """
    if stdio and (http or port is not None):
        raise misused("--stdio goes with neither --http nor --port; choose one way to serve")
    if origin and not (http or port is not None):
        raise misused("--origin is for web pages, which come over HTTP; add --http")
    if (module is None) == (proxied.proxy is None):
        raise misused("give either a MODULE or --proxy, the one thing to serve")
    if proxied.proxy is None and (proxied, sign_in) != (NO_PROXY, BY_LINK):
        raise misused("a flag was given that goes with --proxy alone; `--help` says which do")
    set_up_logging()
    opening = partial(open_proxy, proxied, sign_in) if module is None else _opening(module)
    if http or port is not None:
        guard = Guard(origins=origin or ())
        serving_it = partial(_serve_http, opening, DEFAULT_PORT if port is None else port, guard, as_json=json)
        anyio.run(serving_it, **event_loop())
        return DONE
    anyio.run(_serve_stdio, opening, **event_loop())
    return DONE


def _opening(module: str) -> Opening:
    with contextlib.redirect_stdout(sys.stderr):  # stdout is for the wire, or for our one line
        return offered(*modules.load(module)).open


async def _serve_http(opening: Opening, port: int, guard: Guard, *, as_json: bool) -> None:
    with bind("127.0.0.1", port) as bound:
        url = url_of(bound) + MCP_PATH
        async with opening(guard) as server, serving(server.app, bound):
            with stop_signal(lambda: None) as until_signal:
                if as_json:
                    print_json({"url": url, "pid": os.getpid()})
                else:
                    say(f"{server.endpoint.name} serves {_counted(server)} at {url}; Ctrl-C stops it")
                await until_signal()


async def _serve_stdio(opening: Opening) -> None:
    async with opening(Guard()) as server:
        if sys.stdin.isatty():
            name = server.endpoint.name
            say(f"{name} serves {_counted(server)} and waits for JSON-RPC on stdin; an MCP client starts it this way")
        await server.serve_stdio()


def offered(module: ModuleType, name: str | None) -> Server:
    """What of `module` is to be served: `name`, or every server, tool and bundle in it.

    Raises:
        Failed: that is none of these, there is none, or two things have the same name.
    """
    if name is not None:
        found: list[Any] = [modules.find(module, name)]
        if isinstance(found[0], list | tuple):
            found = list(cast("list[Any]", found[0]))
        if not found or not all(isinstance(item, _SERVED) for item in found):
            raise Failed(f"{name!r} of {module.__name__!r} is no server, no tool and no bundle of tools", "module")
    else:
        found = [getattr(module, each) for each in modules.public_names(module)]
        found = [item for item in found if isinstance(item, _SERVED)]
        if not found:
            raise Failed(f"{module.__name__!r} has no tools; write one with `from toolwire.sdk import tool`", "module")
    whole = _labelled(module, found)
    try:
        whole.add(*found)
    except ValueError as error:
        raise Failed(f"{error}, or serve one with MODULE:NAME", "module") from None
    return whole


def _labelled(module: ModuleType, found: list[Any]) -> Server:
    """A server without tools that calls itself what the only server or bundle is called, or the module."""
    named = [item for item in found if isinstance(item, Server)]
    named = named or [item for item in found if isinstance(item, SdkMcpServer)]
    match named:
        case [Server() as only]:
            return Server(only.name, only.version, title=only.title, instructions=only.instructions)
        case [SdkMcpServer() as only]:
            return Server(only.name, only.version)
        case _:
            return Server(module.__name__)


_SERVED = (DecoratedTool, SdkMcpServer, Server)


def _counted(server: ToolServer) -> str:
    count = len(server.endpoint.catalog)
    return f"{count} tool{'' if count == 1 else 's'}"
