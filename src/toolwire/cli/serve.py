"""`toolwire tools serve`: the tools of a module over MCP, on stdio or HTTP; it does not run them (the server does)."""

import contextlib
import os
import sys
from functools import partial
from types import ModuleType
from typing import Annotated, Any, cast

import anyio
from cyclopts import Parameter

from toolwire.cli import modules
from toolwire.cli.failure import DONE, Failed, misused
from toolwire.cli.listening import bind, event_loop, serving, set_up_logging, stop_signal, url_of
from toolwire.cli.output import print_json, say
from toolwire.cli.parameters import JsonFlag
from toolwire.sdk.bundle import SdkMcpServer
from toolwire.sdk.tool import DecoratedTool
from toolwire.server import Server
from toolwire.surfaces.limits import Guard

MCP_PATH = "/mcp"
DEFAULT_PORT = 8095


def serve(
    module: Annotated[str, Parameter(help="MODULE or MODULE:NAME; a dotted module or a Python file.")],
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
    json: JsonFlag = False,
) -> int:
    """Serve a `Server`, `@tool` functions, or a bundle made by `create_sdk_mcp_server`, over MCP.

    Without NAME all servers, tools and bundles of the module are served. With `--http --json` one line is printed once
    it is ready: `{"url", "pid"}`.
    """
    if stdio and (http or port is not None):
        raise misused("--stdio goes with neither --http nor --port; choose one way to serve")
    if origin and not (http or port is not None):
        raise misused("--origin is for web pages, which come over HTTP; add --http")
    set_up_logging()
    with contextlib.redirect_stdout(sys.stderr):  # stdout is for the wire, or for our one line
        offer = offered(*modules.load(module))
    if http or port is not None:
        guard = Guard(origins=origin or ())
        serving_it = partial(_serve_http, offer, DEFAULT_PORT if port is None else port, guard, as_json=json)
        anyio.run(serving_it, **event_loop())
        return DONE
    anyio.run(_serve_stdio, offer, **event_loop())
    return DONE


async def _serve_http(offer: Server, port: int, guard: Guard, *, as_json: bool) -> None:
    with bind("127.0.0.1", port) as bound:
        url = url_of(bound) + MCP_PATH
        async with offer.open(guard) as server, serving(server.app, bound):
            with stop_signal(lambda: None) as until_signal:
                if as_json:
                    print_json({"url": url, "pid": os.getpid()})
                else:
                    say(f"{offer.name} serves {_counted(offer)} at {url}; Ctrl-C stops it")
                await until_signal()


async def _serve_stdio(offer: Server) -> None:
    if sys.stdin.isatty():
        say(f"{offer.name} serves {_counted(offer)} and waits for JSON-RPC on stdin; an MCP client starts it this way")
    async with offer.open() as server:
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


def _counted(offer: Server) -> str:
    return f"{len(offer.tools)} tool{'' if len(offer.tools) == 1 else 's'}"
