"""gateway.md 7, 26, D8, D11, D12: the gateway's own arguments are taken out before a tool's schema is checked."""

from typing import Any

import pytest

from toolwire.core.errors import InvalidParam
from toolwire.core.jsontypes import JsonObject
from toolwire.gateway.extras import AgentExtras


def test_arguments_without_ours_are_handed_on_as_they_are():
    arguments: JsonObject = {"query": "BeeOS", "context_id": "of the tool"}
    assert AgentExtras({})("search", arguments).arguments is arguments


def test_the_key_is_taken_and_what_was_sent_is_left_alone():
    sent: JsonObject = {"pages": 3, "idempotency_key": "user_7:q3_summary", "attachments": []}
    extras = AgentExtras({})("summarize_pdf", sent)
    assert (extras.arguments, extras.idempotency_key, extras.attachments) == ({"pages": 3}, "user_7:q3_summary", ())
    assert sent == {"pages": 3, "idempotency_key": "user_7:q3_summary", "attachments": []}


@pytest.mark.parametrize("key", [7, None, "", "k" * 256, "a\nb", ["k"], True])
def test_a_malformed_key_is_refused(key: Any):
    with pytest.raises(InvalidParam) as caught:
        AgentExtras({})("search", {"idempotency_key": key})
    assert caught.value.data["param"] == "arguments.idempotency_key"


@pytest.mark.parametrize(
    "attachments", [[{"file_id": "file_abc123", "filename": "q3.pdf"}], {}, "file_abc123", None, 1]
)
def test_attachments_are_refused_until_there_are_files(attachments: Any):
    """Issue item 6: `invalid_param` naming `arguments.attachments`."""
    with pytest.raises(InvalidParam) as caught:
        AgentExtras({})("summarize_pdf", {"attachments": attachments})
    assert caught.value.data["param"] == "arguments.attachments"


def test_a_tool_that_declares_one_of_ours_gets_it_too():
    extras = AgentExtras({"store": ["idempotency_key"]})
    sent: JsonObject = {"idempotency_key": "k1", "attachments": []}
    kept = extras("store", sent)
    assert (kept.arguments, kept.idempotency_key) == ({"idempotency_key": "k1"}, "k1")
    assert extras("search", sent).arguments == {}


def test_the_message_tool_takes_a_context_and_no_other_tool_does():
    extras = AgentExtras({}, message_tool="message")
    said = extras("message", {"message": "hello", "context_id": "ch_1"})
    assert (said.arguments, said.context_id) == ({"message": "hello"}, "ch_1")
    assert extras("search", {"context_id": "ch_1"}).context_id is None
    with pytest.raises(InvalidParam, match="context_id"):
        extras("message", {"message": "hello", "context_id": 1})
