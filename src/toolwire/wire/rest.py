"""The envelope and the time format of the REST surface; it does not route or authenticate.

Spec: gateway.md §6, REST.
"""

from datetime import UTC, datetime
from typing import Any

import msgspec

from toolwire.core.errors import ToolwireError, shortened
from toolwire.core.ids import new_id

_encode = msgspec.json.Encoder().encode


def rfc3339(at: float) -> str:
    """Unix seconds as RFC 3339 in UTC with milliseconds."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def success(data: Any) -> bytes:
    """The body of a good answer."""
    return _encode({"success": True, "data": data})


def failure(error: ToolwireError, request_id: str | None = None) -> tuple[int, bytes]:
    """The HTTP status and body of an error; `type` is the code's family, `details` what a program may use."""
    row = error.row
    kind = "server_error" if row.http_rest >= 500 else "client_error"
    body = {
        "type": kind,
        "code": error.code,
        "message": shortened(error.told),
        "details": {**error.data, "retryable": row.retryable},
        "request_id": request_id or new_id("req"),
    }
    return row.http_rest, _encode({"success": False, "error": body})
