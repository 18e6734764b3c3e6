"""How a client is asked, as MCP's JSON: requests on the older wire, results that ask on 2026-07-28; it sends nothing.

Spec: MCP 2025-11-25 client/elicitation, client/sampling, client/roots; MCP 2026-07-28 basic/mrtr; contract mcp.md 1.2.
"""

from collections.abc import Sequence
from typing import cast

import msgspec
from msgspec import Struct

from toolwire.core.asking import Question
from toolwire.core.errors import InvalidParam
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.wire.jsonrpc import Message, notification_body
from toolwire.wire.mcp.envelope import SERVER_INFO_KEY
from toolwire.wire.mcp.replies import Stamp

_encode = msgspec.json.Encoder().encode


ANSWER_PARAMS = frozenset({"inputResponses", "requestState"})
"""The parameters by which a request is a repeat that brings answers."""


class Answers(Struct, frozen=True):
    """What a repeated request brings: answers by key, and the state as it was given out."""

    responses: dict[str, JsonObject]
    state: str | None = None


def has_answers(message: Message) -> bool:
    """Whether a request is a repeat that brings answers."""
    return not ANSWER_PARAMS.isdisjoint(message.params)


def read_answers(message: Message) -> Answers:
    """The answers and the state of a request.

    Raises:
        InvalidParam: `inputResponses` is no object of objects, or `requestState` no text.
    """
    params = message.params
    state = params.get("requestState")
    if state is not None and not isinstance(state, str):
        raise InvalidParam("params.requestState must be a string, as it was given out", param="requestState")
    return Answers(read_responses(params["inputResponses"]) if "inputResponses" in params else {}, state)


def read_responses(given: object) -> dict[str, JsonObject]:
    """Answers by key.

    Raises:
        InvalidParam: it is no object of objects.
    """
    found = as_object(given)
    if found is None:
        raise InvalidParam("params.inputResponses must be an object of results by key", param="inputResponses")
    for key, answer in found.items():
        if as_object(answer) is None:
            raise InvalidParam(f"params.inputResponses[{key!r}] must be a result", param=f"inputResponses.{key}")
    return cast("dict[str, JsonObject]", found)


def input_requests(questions: Sequence[Question]) -> JsonObject:
    """The questions by key, as `inputRequests` has them."""
    return {question.key: {"method": question.method, "params": question.params} for question in questions}


def input_required_result(questions: Sequence[Question], state: str, stamp: Stamp) -> bytes:
    """A result of 2026-07-28 that asks."""
    asked = _encode(input_requests(questions))
    return b'{"resultType":"input_required","inputRequests":%b,"requestState":%b,"_meta":{"%b":%b}}' % (
        asked,
        _encode(state),
        SERVER_INFO_KEY.encode(),
        stamp.server_info,
    )


def request_body(id_: str, question: Question) -> bytes:
    """A question as a request to a client of the older wire, which knows a page to visit by the request's id."""
    params = question.params
    if params.get("mode") == "url":
        params = {**params, "elicitationId": id_}
    message: JsonObject = {"jsonrpc": "2.0", "id": id_, "method": question.method}
    if params:
        message["params"] = params
    return _encode(message)


def elicitation_complete_body(id_: str) -> bytes:
    """What a client was sent to a page for is done."""
    return notification_body("notifications/elicitation/complete", {"elicitationId": id_})
