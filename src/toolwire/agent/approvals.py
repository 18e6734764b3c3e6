"""What an agent asks about its calls that wait for a yes or a no, and what was decided; it asks nobody.

Two may decide: the owner of the channel, by a `user.continue` with a `Decision`, and whoever is behind the call, by
forms that the gateway shows where it can (wire/link.py). Whoever answers first has decided.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec

from toolwire.core.asking import Question
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.sdk.turns.runner import PendingApproval

SHOWN_ARGUMENTS: Final = 500
CALLER: Final = "caller"
"""Who has decided, where the answer came from behind the call."""
APPROVAL: Final = "toolwire/approval"
"""In the `_meta` of a form: the call that it is about, for a program."""
NOT_WANTED: Final = "the person who was asked did not approve it"

_FORM: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "decision": {"type": "string", "title": "Decision", "enum": ["approve", "deny"]},
        "reason": {"type": "string", "title": "Reason", "description": "The agent reads it when the call is denied."},
    },
    "required": ["decision"],
}


class Decision(msgspec.Struct, frozen=True):
    """The payload of a `user.continue`; `True` stands for every call that was asked about, and a no outweighs a yes."""

    approve: tuple[str, ...] | bool = ()
    deny: tuple[str, ...] | bool = ()
    reason: str | None = None
    arguments: dict[str, JsonObject] = {}
    answers: dict[str, JsonObject] | None = None

    def on(self, call_id: str) -> bool | None:
        """Whether a call may run; `None` when nothing is said about it."""
        if self.deny is True or (self.deny and call_id in self.deny):
            return False
        return True if self.approve is True or (self.approve and call_id in self.approve) else None


def read_decision(payload: JsonObject, pending: Sequence[PendingApproval], times: int) -> Decision:
    """What was decided: by the owner, or by the answers to the forms of `question`.

    Raises:
        msgspec.ValidationError: it is no decision.
    """
    said = msgspec.convert(payload, Decision)
    if said.answers is None:
        return said
    approved, denied, arguments, reasons = list[str](), list[str](), dict[str, JsonObject](), list[str]()
    for call in pending:
        answer = said.answers.get(_key(call, times), {})
        content = as_object(answer.get("content")) or {}
        if answer.get("action") == "accept" and content.get("decision") == "approve":
            approved.append(call.call_id)
            changed = as_object(content.get("arguments"))
            if changed is not None:
                arguments[call.call_id] = changed
        else:
            denied.append(call.call_id)
        reasons += [reason for reason in [content.get("reason")] if isinstance(reason, str) and reason]
    reason = "; ".join(reasons) or (NOT_WANTED if denied else None)
    return Decision(tuple(approved), tuple(denied), reason, arguments)


def question(pending: Sequence[PendingApproval], problem: str, times: int, forms: bool = True) -> JsonObject:
    """The payload of an `agent.input_required`, as wire/link.py says.

    Args:
        pending: the calls that wait.
        problem: what was wrong with the last answer, if something was.
        times: how often the same was asked before.
        forms: whether whoever is behind the call may decide, too.
    """
    asks = f"the agent asks for approval of {wanted(pending)}"
    payload: JsonObject = {
        "text": f"{problem}; {asks}" if problem else asks,
        "approvals": [_shown(call) for call in pending],
    }
    if forms:
        payload["questions"] = [msgspec.to_builtins(_form(call, problem, times)) for call in pending]
    return payload


def wanted(pending: Sequence[PendingApproval]) -> str:
    """The calls, in words."""
    return "; ".join(f"{call.tool_name} {_shortened(call.arguments)}" for call in pending)


def _form(call: PendingApproval, problem: str, times: int) -> Question:
    words = f"The agent asks for approval of {wanted([call])}"
    message = ": ".join(part for part in (problem, words, call.reason) if part)
    params: JsonObject = {
        "mode": "form",
        "message": message,
        "requestedSchema": _FORM,
        "_meta": {APPROVAL: _shown(call)},
    }
    return Question(_key(call, times), "elicitation/create", params)


def _key(call: PendingApproval, times: int) -> str:
    """Names the question within the call that asks; a process that was restarted names it the same."""
    return f"approve_{sha256(msgspec.json.encode([call.call_id, call.reason, times])).hexdigest()[:12]}"


def _shown(call: PendingApproval) -> JsonObject:
    return {"call_id": call.call_id, "tool": call.tool_name, "arguments": call.arguments, "reason": call.reason}


def _shortened(arguments: Any) -> str:
    text = msgspec.json.encode(arguments).decode()
    return text if len(text) <= SHOWN_ARGUMENTS else f"{text[:SHOWN_ARGUMENTS]}…"
