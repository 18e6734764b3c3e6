"""The envelope and the time format of the REST surface; it does not route or authenticate.

Spec: gateway.md §6, REST.
"""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import msgspec

from toolwire.core.errors import ToolwireError, shortened
from toolwire.core.ids import new_id

_encode = msgspec.json.Encoder().encode


def rfc3339(at: float) -> str:
    """Unix seconds as RFC 3339 in UTC with milliseconds."""
    return _whole_milliseconds(round(at * 1_000_000) // 1000)


@lru_cache(maxsize=512)  # most times are of now, or of the calls that are written down just now
def _whole_milliseconds(at: int) -> str:
    seconds, milliseconds = divmod(at, 1000)
    return f"{_whole_seconds(seconds)}.{milliseconds:03d}Z"


@lru_cache(maxsize=4)
def _whole_seconds(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().removesuffix("+00:00")


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
