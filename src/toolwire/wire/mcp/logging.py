"""Log messages on the wire: the levels, who asks for which, and the notification; it logs nothing itself.

Spec: MCP 2025-11-25 server/utilities/logging; on 2026-07-28 a request asks with `_meta` (mcp.md 1.2).
"""

from typing import Any

from toolwire.core.errors import InvalidParam
from toolwire.core.event import Log
from toolwire.core.jsontypes import JsonObject
from toolwire.wire.jsonrpc import Message, notification_body

LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""Those of RFC 5424, the least severe first."""
_RANKS = {level: rank for rank, level in enumerate(LEVELS)}


def read_level(message: Message) -> str:
    """The level of `logging/setLevel`.

    Raises:
        InvalidParam: it is none of the eight.
    """
    return _checked(message.params.get("level"), "level")


def level_in(meta: JsonObject) -> str | None:
    """The level that a request of 2026-07-28 asks for itself, if it does.

    Raises:
        InvalidParam: it is none of the eight.
    """
    value = meta.get(LOG_LEVEL_KEY)
    return None if value is None else _checked(value, f"_meta.{LOG_LEVEL_KEY}")


def is_wanted(log: Log, level: str) -> bool:
    """Whether whoever asked for `level` wants to hear of `log`; a level that MCP has not counts as info."""
    return _RANKS.get(log.level, 1) >= _RANKS[level]


def log_body(log: Log) -> bytes:
    """`notifications/message`."""
    params: JsonObject = {"level": log.level if log.level in _RANKS else "info", "data": log.text}
    if log.logger is not None:
        params["logger"] = log.logger
    return notification_body("notifications/message", params)


def _checked(value: Any, where: str) -> str:
    if isinstance(value, str) and value in _RANKS:
        return value
    raise InvalidParam(f"params.{where} must be one of {', '.join(LEVELS)}, got {value!r}", param=where)
