"""Where an MCP server is found, how long to wait for it, and how it says to begin anew; it connects to nothing."""

from typing import Literal, TypeAlias

from msgspec import Struct

Protocol: TypeAlias = Literal["auto", "legacy"]
"""`auto` asks for 2026-07-28 and takes 2025-11-25 or older if that is what there is; `legacy` does not ask."""


class SessionGone(Exception):
    """The server does not know our session any more and has not looked at the request: connect anew and repeat it."""


class StdioServer(Struct, frozen=True):
    """A program that speaks MCP on its stdin and stdout.

    Attributes:
        argv: the program and its arguments.
        env: variables beside the few harmless ones that every child gets; their values are taken for secrets.
        cwd: the directory it starts in; by default ours.
    """

    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    cwd: str | None = None
    protocol: Protocol = "auto"

    def __repr__(self) -> str:
        return f"StdioServer({self.argv[0]!r})"


class HttpServer(Struct, frozen=True):
    """An endpoint that speaks MCP over Streamable HTTP; `headers` go with every request and are taken for secrets."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    protocol: Protocol = "auto"

    def __repr__(self) -> str:
        return "HttpServer(…)"


Server: TypeAlias = StdioServer | HttpServer


class Patience(Struct, frozen=True):
    """How long to wait, in seconds.

    Attributes:
        connect_s: for a server to start and to answer, and for a list of tools.
        call_s: for the answer to a call; `None` as long as the caller waits.
        first_retry_s: before a server that could not be reached is tried again; doubled after each failure.
        max_retry_s: the longest such pause.
        list_max_age_s: after which a list is fetched again whose server does not tell when it changes.
    """

    connect_s: float = 30.0
    call_s: float | None = None
    first_retry_s: float = 0.5
    max_retry_s: float = 30.0
    list_max_age_s: float = 60.0
