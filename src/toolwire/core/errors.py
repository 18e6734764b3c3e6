"""Everything that can go wrong, as one flat tree with stable codes; it does not build replies.

    ToolwireError
    ├── ParseError, InvalidRequest, MethodNotFound, ToolNotFound, InvalidParam (with InvalidArguments),
    │   IdempotencyKeyReused
    ├── Unauthorized, Forbidden, OriginNotAllowed, HostNotAllowed
    ├── AgentNotFound, SessionNotFound, ChannelNotFound, CallNotFound, KeyNotFound, BlobNotFound, FileNotFound,
    │   WebhookNotFound, ResourceNotFound, RouteNotFound, WorkspaceNotFound, CardNotFound, ArrowNotFound,
    │   PackageNotFound, ConsentNotFound
    ├── MethodNotAllowed, NotAcceptable, PayloadTooLarge, UnsupportedMediaType
    ├── HeaderMismatch, MissingCapability, PageRequired, UnsupportedVersion
    ├── RateLimited, AgentOffline, AgentBusy, Conflict, ServiceUnavailable, InternalError
    ├── AgentLost, OutcomeUnknown, InvalidAgentResponse, ConsentRequired, ServiceTimeout, Cancelled
    ├── ChannelClosed, WaitTimeout
    └── StoreConflict, StoreUnavailable (a ServiceUnavailable)

Raised before a call is claimed, an error is a protocol error; after the claim its code becomes the `Failure` of the
result. `error_rows.ERRORS` maps every code to what each wire makes of it (gateway.md §6, D16).
"""

from typing import Any, ClassVar

from toolwire.core.error_rows import ERRORS, ErrorRow
from toolwire.core.jsontypes import JsonObject

MAX_MESSAGE_CHARS = 1000
"""Messages repeat what was sent; on the wire they do so up to here."""


def shortened(message: str) -> str:
    """A message as it goes over a wire."""
    return message if len(message) <= MAX_MESSAGE_CHARS else message[: MAX_MESSAGE_CHARS - 1] + "…"


class ToolwireError(Exception):
    """The base of all our errors.

    Args:
        message: lower case, with the offending value and what to do next; never a secret.
        data: more for a program, such as `param` or `retry_after_ms`; JSON values only.

    Attributes:
        told: what callers are told: the message, where that does not speak of our machine.
    """

    code: ClassVar[str] = "internal_error"

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.message = message
        self.told = message
        self.data: JsonObject = data

    @property
    def row(self) -> ErrorRow:
        """What the wires make of this error."""
        return ERRORS[self.code]


class ParseError(ToolwireError):
    """The bytes are not JSON."""

    code = "parse_error"


class InvalidRequest(ToolwireError):
    """JSON, but not one JSON-RPC request of a version we speak."""

    code = "invalid_request"


class MethodNotFound(ToolwireError):
    """No such method on this wire revision."""

    code = "method_not_found"


class ToolNotFound(ToolwireError):
    """No such tool here; `tools/list` names what there is."""

    code = "tool_not_found"


class InvalidParam(ToolwireError):
    """A parameter is missing or wrong; `param` in `data` names it."""

    code = "invalid_param"


class InvalidArguments(InvalidParam):
    """The arguments of a known tool do not fit its inputSchema; MCP's own plane shows that to the model."""


class IdempotencyKeyReused(ToolwireError):
    """The key was used for another tool or other arguments."""

    code = "idempotency_key_reused"


class HeaderMismatch(ToolwireError):
    """A routing header is missing, doubled, or says something else than the body."""

    code = "header_mismatch"


class MissingCapability(ToolwireError):
    """The client has not declared a capability that the tool needs."""

    code = "missing_client_capability"


class PageRequired(ToolwireError):
    """A person must visit pages first: `elicitations` in `data`; up to 2025-11-25 alone (mcp.md 1.2, −32042)."""

    code = "url_elicitation_required"


class UnsupportedVersion(ToolwireError):
    """A protocol version we do not speak; `supported` and `requested` in `data`."""

    code = "unsupported_protocol_version"


class Unauthorized(ToolwireError):
    """No credential, a wrong one, or two that differ."""

    code = "unauthorized"


class Forbidden(ToolwireError):
    """A good credential that does not open this."""

    code = "forbidden"


class OriginNotAllowed(ToolwireError):
    """A browser page of another origin is asking."""

    code = "origin_not_allowed"


class HostNotAllowed(ToolwireError):
    """The Host header names something we are not (DNS rebinding)."""

    code = "host_not_allowed"


class AgentNotFound(ToolwireError):
    """No such agent for this caller, or it is not published."""

    code = "agent_not_found"


class SessionNotFound(ToolwireError):
    """The MCP session is unknown, ended or somebody else's; initialize again."""

    code = "session_not_found"


class ChannelNotFound(ToolwireError):
    """No such channel for this caller."""

    code = "channel_not_found"


class CallNotFound(ToolwireError):
    """No such call for this caller."""

    code = "task_not_found"


class KeyNotFound(ToolwireError):
    """No such key for this owner."""

    code = "key_not_found"


class BlobNotFound(ToolwireError):
    """Nothing is stored under that blob key."""

    code = "file_not_found"


class FileNotFound(ToolwireError):
    """No such file for this caller."""

    code = "file_not_found"


class WebhookNotFound(ToolwireError):
    """No such webhook, or no such delivery of it, for this caller."""

    code = "webhook_not_found"


class ResourceNotFound(ToolwireError):
    """No such resource on this server; `uri` in `data` repeats what was asked for."""

    code = "resource_not_found"


class WorkspaceNotFound(ToolwireError):
    """No such workspace for this owner."""

    code = "workspace_not_found"


class CardNotFound(ToolwireError):
    """No such card in this workspace."""

    code = "card_not_found"


class ArrowNotFound(ToolwireError):
    """No such arrow in this workspace."""

    code = "arrow_not_found"


class PackageNotFound(ToolwireError):
    """No such card package for this owner."""

    code = "package_not_found"


class ConsentNotFound(ToolwireError):
    """Nothing waits for this owner's consent under that id."""

    code = "consent_not_found"


class RouteNotFound(ToolwireError):
    """No such path."""

    code = "route_not_found"


class MethodNotAllowed(ToolwireError):
    """The path exists, with other HTTP methods; `allow` in `data` lists them."""

    code = "method_not_allowed"


class NotAcceptable(ToolwireError):
    """The Accept header admits nothing we can answer with."""

    code = "not_acceptable"


class PayloadTooLarge(ToolwireError):
    """The body is larger than the limit."""

    code = "payload_too_large"


class UnsupportedMediaType(ToolwireError):
    """The body is not declared as application/json."""

    code = "unsupported_media_type"


class RateLimited(ToolwireError):
    """Too many requests; `retry_after_ms` in `data`."""

    code = "rate_limited"


class AgentOffline(ToolwireError):
    """The agent is not attached."""

    code = "agent_offline"


class AgentBusy(ToolwireError):
    """The agent takes no second call now."""

    code = "agent_busy"


class Conflict(ToolwireError):
    """The state does not allow this, or somebody else was faster."""

    code = "conflict"


class ServiceUnavailable(ToolwireError):
    """We cannot do our part now."""

    code = "agent_service_unavailable"


class InternalError(ToolwireError):
    """A mistake of ours; the log has it under the request id."""

    code = "internal_error"


class AgentLost(ToolwireError):
    """The agent took the call and will not answer it any more."""

    code = "agent_lost"


class OutcomeUnknown(ToolwireError):
    """The call was begun and nobody can say how it ended; it is not run again."""

    code = "outcome_unknown"


class InvalidAgentResponse(ToolwireError):
    """The agent answered with something that is not a result."""

    code = "invalid_agent_response"


class ConsentRequired(ToolwireError):
    """A definition has changed and its owner has not accepted it yet."""

    code = "consent_required"


class ServiceTimeout(ToolwireError):
    """Nobody answered in time."""

    code = "service_timeout"


class Cancelled(ToolwireError):
    """The caller does not want the result any more."""

    code = "cancelled"


class ChannelClosed(ToolwireError):
    """The channel is closed; nothing can be published on it."""

    code = "channel_closed"


class WaitTimeout(ToolwireError):
    """No matching message came in time; wait again."""

    code = "wait_timeout"


class StoreConflict(ToolwireError):
    """A record was not in the expected version; nothing was written."""

    code = "conflict"

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message, **data)
        self.told = "somebody else has changed this at the same moment; try again"


class StoreUnavailable(ServiceUnavailable):
    """The store cannot be written or read: full, read-only, closed or broken.

    Args:
        message: for who runs the server: what is wrong where, and what to do.
        told: for everybody: the same without places and names of this machine.
        data: as for every error.
    """

    def __init__(
        self, message: str, told: str = "the store cannot be used now; try again in a moment", **data: Any
    ) -> None:
        super().__init__(message, **data)
        self.told = told


def error_of(code: str, message: str, data: JsonObject | None = None) -> ToolwireError:
    """The error with a code; of a code that we do not know, an internal error that names it."""
    for kind in ToolwireError.__subclasses__():
        if kind.code == code:
            return kind(message, **(data or {}))
    return InternalError(f"{code}: {message}", **(data or {}))
