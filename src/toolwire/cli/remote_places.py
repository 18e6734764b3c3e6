"""An MCP server as a command line names it, by a URL or by the command that starts it; it connects to nothing."""

import os
import shlex
from collections.abc import Sequence

from toolwire.cli.failure import misused
from toolwire.providers.remote_server import Server, StdioServer

STDIO = "stdio:"
"""In front of a command of one word, which could be an agent's name."""


def is_command(place: str) -> bool:
    """Whether `place` is a command and neither a URL nor an agent's name."""
    return place.startswith(STDIO) or ("://" not in place.split(" ", maxsplit=1)[0] and any(c in place for c in " /\\"))


def child_of(place: str, headers: Sequence[str] = (), env: Sequence[str] = ()) -> StdioServer:
    """The server that a command starts.

    Args:
        place: the command with its arguments, as a shell would read it.
        headers: must be none: they are for a URL.
        env: variables beside the few that every child gets: `NAME=value`, or `NAME` for our own.

    Raises:
        Failed: it is no command, or a variable is none.
    """
    if headers:
        raise misused("--header is for a server at a URL, not for one that a command starts; see --env")
    try:
        argv = tuple(shlex.split(place.removeprefix(STDIO)))
    except ValueError as error:
        raise misused(f"{place!r} is no command: {str(error).lower()}") from None
    if not argv:
        raise misused("the command of an MCP server is empty")
    return StdioServer(argv, tuple(_variable(each) for each in env))


def header_of(line: str) -> tuple[str, str]:
    """A header's name, in lower case, and its value.

    Raises:
        Failed: `line` is no header.
    """
    name, colon, value = line.partition(":")
    if not colon or not name.strip() or not line.isascii() or not line.isprintable():
        raise misused(f"{line!r} is no header; give it as 'Name: value'")
    return name.strip().lower(), value.strip()


def known_as(server: Server) -> str:
    """What files know a server by: its URL without what may be secret, or its command."""
    if isinstance(server, StdioServer):
        return shlex.join(server.argv)
    from toolwire.providers.remote_http import shown_url

    return shown_url(server.url)


def _variable(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not name:
        raise misused(f"{given!r} is no variable; give it as NAME or NAME=value")
    if equals:
        return name, value
    if name not in os.environ:
        raise misused(f"the variable {name!r} is not set; give it as {name}=value")
    return name, os.environ[name]
