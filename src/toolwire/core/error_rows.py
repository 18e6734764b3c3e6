"""What each wire makes of every error code: one table; it does not raise anything (gateway.md §6, D16)."""

from msgspec import Struct


class ErrorRow(Struct, frozen=True):
    """What the wires make of one code.

    `jsonrpc` is the JSON-RPC error code; `http_legacy` and `http_modern` the status on the MCP endpoint up to
    2025-11-25 and on 2026-07-28; `http_rest` the status of the REST surface; `retryable` whether the same request
    may succeed later without being changed.
    """

    jsonrpc: int
    http_legacy: int
    http_modern: int
    http_rest: int
    retryable: bool = False


def _transport(status: int, retryable: bool = False) -> ErrorRow:
    return ErrorRow(-32600, status, status, status, retryable)


def _late(status_rest: int, retryable: bool = False) -> ErrorRow:
    return ErrorRow(-32603, 200, 200, status_rest, retryable)


ERRORS: dict[str, ErrorRow] = {
    "parse_error": ErrorRow(-32700, 400, 400, 400),
    "invalid_request": ErrorRow(-32600, 400, 400, 400),
    "method_not_found": ErrorRow(-32601, 200, 404, 404),
    "tool_not_found": ErrorRow(-32602, 200, 400, 404),
    "invalid_param": ErrorRow(-32602, 200, 400, 400),
    "idempotency_key_reused": ErrorRow(-32602, 200, 400, 409),
    "header_mismatch": ErrorRow(-32020, 400, 400, 400),
    "missing_client_capability": ErrorRow(-32021, 400, 400, 400),
    "unsupported_protocol_version": ErrorRow(-32022, 400, 400, 400),
    "url_elicitation_required": ErrorRow(-32042, 200, 200, 409),
    "unauthorized": _transport(401),
    "forbidden": _transport(403),
    "origin_not_allowed": _transport(403),
    "agent_not_found": _transport(404),
    "session_not_found": _transport(404),
    "channel_not_found": _transport(404),
    "task_not_found": _transport(404),
    "key_not_found": _transport(404),
    "file_not_found": _transport(404),
    "webhook_not_found": _transport(404),
    "workspace_not_found": _transport(404),
    "card_not_found": _transport(404),
    "arrow_not_found": _transport(404),
    "package_not_found": _transport(404),
    "consent_not_found": _transport(404),
    "resource_not_found": ErrorRow(-32002, 200, 400, 404),
    "route_not_found": _transport(404),
    "method_not_allowed": _transport(405),
    "not_acceptable": _transport(406),
    "wait_timeout": _transport(408, retryable=True),
    "channel_closed": _transport(410),
    "payload_too_large": _transport(413),
    "unsupported_media_type": _transport(415),
    "host_not_allowed": _transport(421),
    "rate_limited": ErrorRow(-32603, 429, 429, 429, True),
    "agent_offline": _late(503, True),
    "agent_busy": _late(409, True),
    "conflict": _late(409, True),
    "agent_service_unavailable": _late(503, True),
    "internal_error": _late(500, True),
    "agent_lost": _late(502),
    "outcome_unknown": _late(502),
    "invalid_agent_response": _late(502),
    "consent_required": _late(409),
    "cancelled": _late(409),
    "service_timeout": ErrorRow(-32003, 200, 200, 504),
}
"""One row a code. `service_timeout` is retryable with an idempotency key only; the reply says which."""

GATEWAY_OVERRIDES: dict[str, ErrorRow] = {"tool_not_found": ErrorRow(-32601, 200, 200, 404)}
"""Where the gateway's endpoint differs, because its contract orders so (gateway.md X8)."""
MODERN_OVERRIDES: dict[str, ErrorRow] = {"resource_not_found": ErrorRow(-32602, 200, 400, 404)}
"""Where 2026-07-28 has another JSON-RPC code than the wire before it (mcp.md 1.2)."""
