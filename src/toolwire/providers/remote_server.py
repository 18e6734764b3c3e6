"""Where an MCP server is found, how long to wait for it, and what it may ask of us; it connects to nothing."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from toolwire.core.jsontypes import JsonObject

if TYPE_CHECKING:
    import httpx2

Listing: TypeAlias = Literal["tools", "prompts", "resources", "templates"]
"""A list that a server may have."""
Protocol: TypeAlias = Literal["auto", "legacy"]
"""`auto` asks for 2026-07-28 and takes 2025-11-25 or older if that is what there is; `legacy` does not ask."""


OpenTransport: TypeAlias = "Callable[[], httpx2.AsyncBaseTransport]"
"""Makes what carries HTTP requests; called once for each connection."""


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
    """An endpoint that speaks MCP over Streamable HTTP.

    Attributes:
        url: where it is.
        headers: go with every request; they are taken for secrets.
        auth: signs the requests, and sees the answers (a 401, a 403) before anybody else does.
        transport: makes what carries the requests; without it they go wherever the URL leads.
    """

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    protocol: Protocol = "auto"
    auth: "httpx2.Auth | None" = None
    transport: "OpenTransport | None" = None

    def __repr__(self) -> str:
        return "HttpServer(…)"


Server: TypeAlias = StdioServer | HttpServer


LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]

Ask: TypeAlias = Callable[[JsonObject], Awaitable[JsonObject]]
"""Answers one question of a server: the request's params come in, its result goes out, both in MCP's words.

Raises:
    ToolwireError: the question is refused; the message is for the server.
"""


class Callbacks(Struct, frozen=True):
    """What a server may ask of its client while it works; what is `None` is not offered to it.

    Attributes:
        elicit: answers `elicitation/create`.
        sample: answers `sampling/createMessage`.
        roots: answers `roots/list`.
        log: told of each log message, the params of `notifications/message`; must neither block nor raise.
        log_level: from which level on.
        sampling: what of sampling is declared, such as `{"tools": {}}`.
        tasks: whether a call may become a task, which is then followed.
    """

    elicit: Ask | None = None
    sample: Ask | None = None
    roots: Ask | None = None
    log: Callable[[JsonObject], None] | None = None
    log_level: LogLevel = "debug"
    sampling: JsonObject | None = None
    tasks: bool = False


NO_CALLBACKS = Callbacks()


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
