"""From the result of a tool to the terminal reply on the channel; it does not send the reply.

Spec: gateway.md 1H, and the payloads in the docstring of toolwire.wire.link.
"""

import logging

import msgspec

from toolwire.agent.journal import Answer
from toolwire.core.errors import MissingCapability, PageRequired
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import TOOL_FAILED, Content, Result, Text, failed

_log = logging.getLogger("toolwire.agent")
_builtins = msgspec.to_builtins


def answer_of(result: Result) -> Answer:
    """The reply that says what `result` says, under a fresh message id."""
    text = _plain_text(result.content)
    if text is not None:
        payload: JsonObject = {"text": text}
    else:
        text = "\n".join(block.text for block in result.content if isinstance(block, Text))
        payload = {"text": text, "content": [_builtins(block) for block in result.content]}
    if result.structured is not msgspec.UNSET:
        payload["structured"] = result.structured
    error = result.error
    if error is None:
        return Answer(new_id("msg"), "agent_reply", payload)
    payload["text"] = text or error.message
    if error.code == "cancelled":
        return Answer(new_id("msg"), "agent.refuse", {"text": payload["text"], "code": error.code})
    if error.data is not None and error.data.get("refused") is True:  # the SDK's mark of a `Refuse`
        return Answer(new_id("msg"), "agent.refuse", {"text": payload["text"]})
    payload["is_error"] = True
    if error.code != TOOL_FAILED:
        payload["code"] = error.code
    if error.code in (MissingCapability.code, PageRequired.code) and error.data is not None:
        payload["data"] = error.data
    return Answer(new_id("msg"), "agent_reply", payload)


def busy_answer(waiting: int) -> Answer:
    """The reply of an agent whose waiting room is full."""
    text = f"the agent is busy: {waiting} calls are waiting already; try again later"
    return Answer(new_id("msg"), "agent_busy", {"text": text})


def unsendable_answer(why: str) -> Answer:
    """The reply in place of one that cannot be sent; `why` is for the caller to read."""
    return answer_of(failed(f"the agent's answer cannot be sent: {why}", "invalid_agent_response"))


def unexpected_failure(message_id: str) -> Result:
    """A failure without internals: the caller gets a reference by which the author finds the traceback in the log.

    Call it where the exception is handled.
    """
    reference = new_id("err")
    _log.exception("message %s failed, reference %s", message_id, reference)
    return failed(f"the agent failed; its author finds the reason in the agent's log under {reference}")


def _plain_text(content: tuple[Content, ...]) -> str | None:
    """The text that says it all, so that a large one does not travel twice; `None` where there is more to say."""
    match content:
        case (Text(text=text, annotations=None, meta=None),):
            return text
        case ():
            return ""
        case _:
            return None
