"""Which remote MCP servers an agent may use, and what their tools are called; it connects to nothing."""

import hashlib
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast
from urllib.parse import urlsplit

from toolwire.core.names import valid_tool_name
from toolwire.providers.remote_auth import Auth
from toolwire.providers.remote_server import HttpServer, Protocol, StdioServer
from toolwire.sdk.remote.access import WAYS, signing

ALIAS = re.compile(r"[a-z0-9_-]{1,32}")
MAX_NAME_LEN = 64
DIGEST_LEN = 8
TOOLBOX = "toolbox"
"""What records and messages call an agent's toolbox on a Toolwire host."""
KEY_VARIABLE = "TOOLWIRE_AGENT_KEY"

Pairs: TypeAlias = Mapping[str, str] | Iterable[tuple[str, str]]


class McpConfigError(ValueError):
    """A remote server that cannot be meant so; raised where it is written, before anything is connected."""


@dataclass(frozen=True)
class McpServerSpec:
    """A program that speaks MCP on its stdin and stdout (sdk.md 51).

    Attributes:
        alias: its name here, 1 to 32 of a-z, 0-9, `_` and `-`; its tools are called `mcp__{alias}__{tool}`.
        argv: the program and its arguments.
        env: variables for it, as pairs or a mapping, beside PATH, HOME and their like; no other is passed on.
        tool_subset: the tools to offer, by the names that the server gives them; `None` for all.
        call_timeout_s: seconds to wait for a result; `None` as long as the client waits.
        deferred: must be False; name the tools to offer with `tool_subset`.
        connect_timeout_s: seconds it may take to start and to answer.
        trust_annotations: believe its `readOnlyHint`, so that such tools run without being asked for.
        pins: digests of tool definitions by the server's names for them; other tools are not offered.
        protocol: "legacy" does not ask for 2026-07-28 first, for a server that ends when it is asked.
        cwd: the directory it starts in.

    Raises:
        McpConfigError: one of these cannot be.
    """

    alias: str
    argv: tuple[str, ...]
    env: Pairs = field(default=(), repr=False)
    tool_subset: tuple[str, ...] | None = None
    call_timeout_s: float | None = None
    deferred: bool = False
    connect_timeout_s: float = 30.0
    trust_annotations: bool = False
    pins: Pairs | None = field(default=None, repr=False)
    protocol: Protocol = "auto"
    cwd: str | None = None

    def __post_init__(self) -> None:
        _check(self)
        argv: Any = self.argv
        if isinstance(argv, str) or not all(isinstance(word, str) for word in argv):
            raise McpConfigError(f"MCP server {self.alias!r}: argv must be a tuple of texts, got {argv!r}")
        if not argv or not argv[0]:
            raise McpConfigError(f"MCP server {self.alias!r} has an empty command")
        object.__setattr__(self, "argv", tuple(argv))
        object.__setattr__(self, "env", _pairs(self.env, f"MCP server {self.alias!r}: env"))

    @property
    def server(self) -> StdioServer:
        """Where it is."""
        return StdioServer(self.argv, cast("Any", self.env), self.cwd, self.protocol)


@dataclass(frozen=True)
class McpHttpServerSpec:
    """An endpoint that speaks MCP over Streamable HTTP (sdk.md 51).

    Attributes:
        url: the endpoint.
        headers: sent with every request, as pairs or a mapping; they are never shown.
        auth: who signs in if the server wants that: `SignIn()` takes the tokens that `toolwire tools list URL` has got
            on this machine, and renews them; the others of `toolwire.sdk` sign in without a person.
        principal: whose tokens to take, where there are those of several users; "" for those of the command line.
        token_folder: where tokens are kept; by default in the data folder.

    The others are as in `McpServerSpec`.

    Raises:
        McpConfigError: one of these cannot be.
    """

    alias: str
    url: str = field(repr=False)
    headers: Pairs = field(default=(), repr=False)
    tool_subset: tuple[str, ...] | None = None
    call_timeout_s: float | None = None
    deferred: bool = False
    connect_timeout_s: float = 30.0
    trust_annotations: bool = False
    pins: Pairs | None = field(default=None, repr=False)
    protocol: Protocol = "auto"
    auth: Auth | None = field(default=None, repr=False)
    principal: str = ""
    token_folder: str | None = None

    def __post_init__(self) -> None:
        _check(self)
        where = f"MCP server {self.alias!r}"
        _check_url(self.url, where)
        headers = _pairs(self.headers, f"{where}: headers")
        object.__setattr__(self, "headers", headers)
        given: Any = self.auth
        if given is not None and not isinstance(given, WAYS):
            raise McpConfigError(f"{where}: auth must be SignIn, Credentials, Assertion or Enterprise, got {given!r}")
        if given is not None and any(name.lower() == "authorization" for name, _ in headers):
            raise McpConfigError(f"{where}: give auth or a header Authorization, one of them")

    @property
    def server(self) -> HttpServer:
        """Where it is, and what signs the requests to it. With `auth` it needs the extra `mcp`."""
        auth = None if self.auth is None else signing(self.url, self.auth, self.principal, self.token_folder)
        return HttpServer(self.url, cast("Any", self.headers), self.protocol, auth)


McpSpec: TypeAlias = McpServerSpec | McpHttpServerSpec


@dataclass(frozen=True)
class Toolbox:
    """The tools that an agent is granted on a Toolwire host; they keep the names that the host gives them.

    Attributes:
        url: the toolbox's endpoint, `https://…/{agent_id}/toolbox/mcp`.
        key: the agent's key; by default the variable TOOLWIRE_AGENT_KEY.
        call_timeout_s: as in `McpServerSpec`.
        trust_annotations: believe `readOnlyHint`, so that such tools run without being asked for. Who has installed a
            card has accepted the mark along with the tool's words, so it counts unless told otherwise.

    Raises:
        McpConfigError: there is no key, or one of these cannot be.
    """

    url: str
    key: str | None = field(default=None, repr=False)
    call_timeout_s: float | None = None
    trust_annotations: bool = True

    def __post_init__(self) -> None:
        _check_url(self.url, "Toolbox")
        key = self.key or os.environ.get(KEY_VARIABLE, "").strip()
        if not key:
            raise McpConfigError(f"Toolbox({self.url!r}) needs the agent's key: give key=… or set {KEY_VARIABLE}")
        object.__setattr__(self, "key", key)

    @property
    def spec(self) -> McpHttpServerSpec:
        """The same as a remote server."""
        return McpHttpServerSpec(
            TOOLBOX,
            self.url,
            (("Authorization", f"Bearer {self.key}"),),
            call_timeout_s=self.call_timeout_s,
            trust_annotations=self.trust_annotations,
        )


def as_toolbox(value: object) -> Toolbox:
    """What `Options(toolbox=…)` means: a `Toolbox`, or its URL with the key in TOOLWIRE_AGENT_KEY.

    Raises:
        McpConfigError: it is neither, or there is no key.
    """
    if isinstance(value, Toolbox):
        return value
    if isinstance(value, str):
        return Toolbox(value)
    raise McpConfigError(f"Options(toolbox) takes Toolbox(url, key) or a URL, got {type(value).__name__}")


def checked_aliases(enabled: object) -> tuple[str, ...]:
    """`enabled_mcp` of a turn.

    Raises:
        McpConfigError: it is no tuple of names, or has a name twice (sdk.md 52).
    """
    if isinstance(enabled, str) or not isinstance(enabled, Iterable):
        raise McpConfigError(f"enabled_mcp must be a tuple of aliases, got {enabled!r}; write ({enabled!r},)")
    names = tuple(cast("Iterable[object]", enabled))
    for index, name in enumerate(names):
        if not isinstance(name, str):
            raise McpConfigError(f"enabled_mcp takes aliases of MCP servers, got {name!r}")
        if name in names[:index]:
            raise McpConfigError(f"enabled_mcp names {name!r} twice")
    return cast("tuple[str, ...]", names)


def full_name(alias: str, tool: str) -> str:
    """What a model calls the tool of a server: `mcp__{alias}__{tool}` (sdk.md 53), a toolbox's by its own name.

    Characters that models do not take become `_`. A name of more than 64 characters is cut, and ends with a digest of
    the whole, so that it stays the same and its own.
    """
    whole = tool if alias == TOOLBOX else f"mcp__{alias}__{tool}"
    name = re.sub(r"[^A-Za-z0-9_-]", "_", whole)
    if valid_tool_name(name):
        return name
    digest = hashlib.sha256(whole.encode(errors="surrogatepass")).hexdigest()[:DIGEST_LEN]
    return f"{name[: MAX_NAME_LEN - DIGEST_LEN - 1]}_{digest}"


def _check(spec: McpSpec) -> None:
    alias: Any = spec.alias
    if not isinstance(alias, str) or ALIAS.fullmatch(alias) is None:
        raise McpConfigError(f"invalid MCP server alias {alias!r}; it must match ^{ALIAS.pattern}$")
    where = f"MCP server {alias!r}"
    for name in ("call_timeout_s", "connect_timeout_s"):
        _check_seconds(getattr(spec, name), f"{where}: {name}")
    if spec.deferred:
        raise McpConfigError(f"{where}: deferred=True is not offered; name the tools to offer with tool_subset=…")
    if spec.protocol not in ("auto", "legacy"):
        raise McpConfigError(f"{where}: protocol must be 'auto' or 'legacy', got {spec.protocol!r}")
    subset: Any = spec.tool_subset
    if subset is not None:
        if isinstance(subset, str) or not all(isinstance(name, str) for name in subset):
            raise McpConfigError(f"{where}: tool_subset must be a tuple of tool names, got {subset!r}")
        object.__setattr__(spec, "tool_subset", tuple(subset))
    if spec.pins is not None:
        object.__setattr__(spec, "pins", _pairs(spec.pins, f"{where}: pins"))


def _check_seconds(value: Any, what: str) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not (math.isfinite(value) and value > 0):
        raise McpConfigError(f"{what} must be a number of seconds above 0, got {value!r}")


def _check_url(url: Any, where: str) -> None:
    if not isinstance(url, str) or not url:
        raise McpConfigError(f"{where} has an empty url")
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise McpConfigError(f"{where}: url must begin with http:// or https:// and a host")


def _pairs(value: Any, what: str) -> tuple[tuple[str, str], ...]:
    """The pairs of a mapping or of pairs; what they say is never shown."""
    listed: Any = cast("Mapping[str, str]", value).items() if isinstance(value, Mapping) else value
    try:
        pairs = tuple((key, text) for key, text in listed)
    except (TypeError, ValueError):
        raise McpConfigError(f"{what} must be pairs of texts or a mapping") from None
    if not all(isinstance(part, str) for pair in pairs for part in pair):
        raise McpConfigError(f"{what} must be pairs of texts or a mapping")
    return pairs
