"""What a surface needs to know of the place it serves: the door that lets callers in and what lies behind it."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from toolwire.core.call import Attachment, Call, Caller
from toolwire.core.error_rows import ERRORS, GATEWAY_OVERRIDES, MODERN_OVERRIDES, ErrorRow
from toolwire.core.jsontypes import JsonObject
from toolwire.core.prompt import Completions, Prompts
from toolwire.core.resource import Resources
from toolwire.engine.catalog import Catalog
from toolwire.surfaces.changes import Changes
from toolwire.surfaces.parking import Parking
from toolwire.wire.mcp.handshake import Features, ServerInfo
from toolwire.wire.mcp.param_headers import ParamHeader, read_param_headers
from toolwire.wire.mcp.replies import Stamp

logger = logging.getLogger("toolwire.surfaces")

Plane = Literal["gateway", "mcp"]
"""Which error table an endpoint answers by: the gateway's contract, or MCP's two planes as MCP orders them."""

Headers = Mapping[bytes, bytes]
"""Request headers by lower-case name; of a name that stands several times the values are joined by ', '."""


class Extras(Struct, frozen=True):
    """What the gateway takes out of a call's arguments before they are checked (gateway.md D11, D12)."""

    arguments: JsonObject
    idempotency_key: str | None = None
    attachments: tuple[Attachment, ...] = ()
    context_id: str | None = None


TakeExtras = Callable[[str, JsonObject], Extras]
"""Splits arguments as sent to a tool (its name first) into the tool's own and the gateway's.

Raises:
    InvalidParam: one of the gateway's arguments is malformed; `param` names it.
"""


class Watch(Protocol):
    """Whoever wants to be told of calls besides those who make them: webhooks."""

    def stands(self, call: Call) -> bool:
        """Whether somebody wants to be told of a call, whatever came with it."""
        ...

    async def over(self, call: Call, given: object, param: str = ...) -> Call:
        """The call, watched; `given` is the webhook that came with it as sent, `None` without one.

        `param` is where that stands in the request, by default in MCP's `_meta`.

        Raises:
            InvalidParam: what came is no webhook, or none that may be told.
        """
        ...


class Library(Struct, frozen=True):
    """What an endpoint offers beside tools. What is `None` it does not offer, does not advertise and does not know.

    `changes` tells of changes of all that is offered, tools included. `look` is awaited before anything is listed,
    where what is offered is another's and may have changed unheard; it raises nothing.
    """

    resources: Resources | None = None
    prompts: Prompts | None = None
    completions: Completions | None = None
    changes: Changes | None = None
    look: Callable[[], Awaitable[None]] | None = None


TOOLS_ALONE = Library()


class Endpoint(Struct):
    """One MCP endpoint: an agent's tools on the gateway, or a server's own.

    `call_timeout_s` is the time-out of a call unless its tool says otherwise, `max_timeout_s` the longest a caller may
    ask for. `take_extras` is `None` where arguments
    are the tool's alone. `owns_context` says whether a caller may go on in a conversation it names. `logs` says that
    what tools log is told to clients that ask for it. `watch` is `None` where calls have no webhooks.
    """

    agent_id: str
    name: str
    version: str
    catalog: Catalog
    plane: Plane = "mcp"
    title: str | None = None
    instructions: str | None = None
    call_timeout_s: float = 60.0
    max_timeout_s: float = 600.0
    take_extras: TakeExtras | None = None
    owns_context: Callable[[Caller, str], Awaitable[bool]] | None = None
    library: Library = TOOLS_ALONE
    logs: bool = False
    parking: Parking | None = None
    watch: Watch | None = None

    stamp_cache: Stamp | None = None
    mirrored_cache: tuple[int, dict[str, tuple[ParamHeader, ...]]] | None = None

    @property
    def info(self) -> ServerInfo:
        """What the endpoint says of itself."""
        return ServerInfo(self.name, self.version, self.title, self.instructions)

    @property
    def features(self) -> Features:
        """What it serves beside tools."""
        offered = self.library
        return Features(
            resources=offered.resources is not None,
            prompts=offered.prompts is not None,
            completions=offered.completions is not None,
            logging=self.logs,
            changes=offered.changes is not None,
        )

    @property
    def stamp(self) -> Stamp:
        """What it adds to every result of 2026-07-28."""
        if self.stamp_cache is None:
            self.stamp_cache = Stamp(self.info)
        return self.stamp_cache

    def mirrored(self) -> Mapping[str, tuple[ParamHeader, ...]]:
        """The arguments that clients repeat in headers, of each tool that has some; read once a catalogue."""
        cached = self.mirrored_cache
        if cached is None or cached[0] != self.catalog.version:
            cached = self.mirrored_cache = (self.catalog.version, _mirrored(self.catalog))
        return cached[1]

    def row(self, code: str, modern: bool = False) -> ErrorRow:
        """What this endpoint makes of an error code; `modern` on 2026-07-28."""
        if self.plane == "gateway" and code in GATEWAY_OVERRIDES:
            return GATEWAY_OVERRIDES[code]
        if modern and code in MODERN_OVERRIDES:
            return MODERN_OVERRIDES[code]
        return ERRORS[code]


def _mirrored(catalog: Catalog) -> dict[str, tuple[ParamHeader, ...]]:
    found: dict[str, tuple[ParamHeader, ...]] = {}
    for entry in catalog:
        try:
            headers = read_param_headers(entry.tool.input_schema)
        except ValueError as error:  # clients refuse such a tool; there is nothing to hold a request against
            logger.warning("tool %r: %s", entry.tool.name, error)
            continue
        if headers:
            found[entry.tool.name] = headers
    return found


class Admission(Struct, frozen=True):
    """A caller who has been let in, and where.

    `credential_id` is that of the key or grant that has opened it.
    `again` lets the same caller in at the same place once more, by the credentials of the first time; `False` says that
    the door has to be asked, because something has changed or it is too soon. Without it the door is always asked.
    """

    caller: Caller
    endpoint: Endpoint
    credential_id: str = ""
    again: Callable[[], bool] | None = None


class Door(Protocol):
    """Decides who may come in where."""

    def serves(self, path: str) -> bool:
        """Whether `path` is an MCP endpoint of ours (whoever asks)."""
        ...

    async def admit(self, path: str, headers: Headers, credentials: Sequence[bytes]) -> Admission:
        """Let a caller in.

        Args:
            path: the URL path, percent-decoded.
            headers: the request's headers.
            credentials: values of every header that can carry one, as sent, in order.

        Raises:
            Unauthorized: no credential, a wrong one, or two that differ (401, with `WWW-Authenticate`).
            AgentNotFound: nothing is published here for this caller.
            Forbidden: the caller may see the agent and not call it.
            RateLimited: too many requests.
        """
        ...

    def challenge(self, path: str = "", headers: Headers | None = None) -> str:
        """The value of `WWW-Authenticate` on a 401 to a request for `path` with these headers."""
        ...
