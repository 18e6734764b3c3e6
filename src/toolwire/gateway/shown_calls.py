"""Calls as the record of calls shows them to their owner; it finds none.

What a call said is withheld where the host's settings say so, and where the call is confidential.
"""

from typing import Any

from toolwire.core.call import Caller
from toolwire.core.error_rows import ERRORS
from toolwire.core.event import Log, Progress
from toolwire.core.jsontypes import JsonObject
from toolwire.core.ports import Clock
from toolwire.core.result import Result
from toolwire.engine.history import Found
from toolwire.engine.record import CallRecord, Told
from toolwire.gateway.agents import Agents
from toolwire.gateway.auth import TOKEN_SCOPES
from toolwire.gateway.keys import Keys
from toolwire.gateway.rest_calls import shown_answer
from toolwire.gateway.task_states import task_status
from toolwire.surfaces.previews import json_preview, result_preview
from toolwire.wire.rest import rfc3339


class ShownCalls:
    """Shows calls.

    Args:
        agents: have names.
        keys: have names, too.
        clock: tells how long a call has been running.
        bodies: whether what calls said is shown.
    """

    def __init__(self, agents: Agents, keys: Keys, clock: Clock, bodies: bool) -> None:
        self._agents = agents
        self._keys = keys
        self._clock = clock
        self._bodies = bodies

    def summary(self, found: Found) -> JsonObject:
        """A call in short: `wire.answers.records.RecordedCall`."""
        call, withheld = found.call, not self._bodies or found.confidential
        lines = _lines_of(found)
        return {
            "call_id": call.id,
            "agent_id": call.agent_id or None,
            "agent_name": self._agent_name(call.agent_id),
            "tool": call.tool,
            "caller": self._caller(call.caller),
            "surface": call.caller.surface,
            "status": status_shown(found),
            "started_at": rfc3339(found.created_at),
            "ended_at": None if found.completed_at is None else rfc3339(found.completed_at),
            "duration_ms": round(1000 * max(0.0, (found.completed_at or self._clock.now()) - found.created_at), 1),
            "progress": None if withheld else _progress(lines),
            "arguments": None if withheld else json_preview(call.arguments),
            "result": None if withheld else _result_preview(found),
            "error": _error(found.result, withheld),
            "withheld": withheld,
            "task_id": call.id if call.outlives_request else None,
            "keyed": call.idempotency_key is not None,
            "parent": call.parent,
        }

    def whole(self, found: Found) -> JsonObject:
        """A call in full: `wire.answers.records.WholeCall`."""
        call, summary = found.call, self.summary(found)
        withheld = summary["withheld"]
        return {
            **summary,
            "deadline_at": rfc3339(call.done_by),
            "context_id": call.context_id,
            "sent": None if withheld else call.arguments,
            "answer": None if withheld or found.result is None else shown_answer(call, found.result),
            "lines": [] if withheld else [_line(told) for told in _lines_of(found)],
        }

    def _agent_name(self, agent_id: str) -> str | None:
        known = self._agents.known(agent_id) if agent_id else None
        return None if known is None else known.name

    def _caller(self, caller: Caller) -> JsonObject:
        principal = caller.principal
        if principal == caller.owner:
            if caller.scopes == TOKEN_SCOPES:
                return {"kind": "oauth", "id": principal, "name": None}
            return {"kind": "owner", "id": principal, "name": self._keys.owner_name(principal)}
        key = self._keys.get(principal)
        if key is not None:
            return {"kind": "key", "id": principal, "name": key.name or key.prefix}
        name = self._agent_name(principal)
        return {"kind": "other" if name is None else "agent", "id": principal, "name": name}


def status_shown(found: Found) -> str:
    """One of gateway.md 54."""
    if isinstance(found, CallRecord) and found.result is None:
        return found.status
    return task_status(found)


def _lines_of(found: Found) -> tuple[Told, ...]:
    return found.told if isinstance(found, CallRecord) else found.told()


def _progress(lines: tuple[Told, ...]) -> JsonObject | None:
    for told in reversed(lines):
        if isinstance(told.event, Progress):
            return {"progress": told.event.progress, "total": told.event.total, "message": told.event.message}
    return None


def _line(told: Told) -> JsonObject:
    line: dict[str, Any] = {"seq": told.seq, "at": rfc3339(told.at)}
    match told.event:
        case Progress(progress, total, message):
            return {**line, "kind": "progress", "text": message or "", "progress": progress, "total": total}
        case Log(level, text):
            return {**line, "kind": "log", "text": text, "level": level}


def _result_preview(found: Found) -> str | None:
    if found.result is not None:
        return result_preview(found.result)
    return "(large; read the call itself)" if isinstance(found, CallRecord) and found.result_blob is not None else None


def _error(result: Result | None, withheld: bool) -> JsonObject | None:
    if result is None or result.error is None:
        return None
    row, words = ERRORS.get(result.error.code), "" if withheld else result.error.message
    return {"code": result.error.code, "message": words, "retryable": row is not None and row.retryable}
