"""gateway.md 7, 26, D8, D11, D12: the gateway's own arguments are taken out before a tool's schema is checked."""

from typing import Any

import pytest

from toolwire.core.call import Attachment
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


def test_attachments_are_taken_as_they_were_sent():
    """gateway.md 19."""
    sent: JsonObject = {
        "attachments": [
            {"file_id": "file_abc123", "filename": "q3.pdf"},
            {"file_id": "f", "content_type": "text/plain"},
        ]
    }
    extras = AgentExtras({})("summarize_pdf", sent)
    assert extras.arguments == {}
    assert extras.attachments == (Attachment("file_abc123", "q3.pdf"), Attachment("f", None, "text/plain"))


MALFORMED: list[tuple[Any, str]] = [
    ({}, "attachments"),
    ("file_abc123", "attachments"),
    (None, "attachments"),
    (["file_abc123"], "attachments[0]"),
    ([{}], "attachments[0]"),
    ([{"file_id": "f"}, {"file_id": 7}], "attachments[1].file_id"),
    ([{"file_id": ""}], "attachments[0].file_id"),
    ([{"file_id": "f" * 129}], "attachments[0].file_id"),
    ([{"file_id": "f", "url": "https://example.com"}], "attachments[0]"),
    ([{"file_id": "f", "filename": ""}], "attachments[0].filename"),
    ([{"file_id": "f", "filename": "x" * 513}], "attachments[0].filename"),
    ([{"file_id": "f", "content_type": "pdf"}], "attachments[0].content_type"),
]


@pytest.mark.parametrize(("attachments", "param"), MALFORMED)
def test_malformed_attachments_are_refused_by_their_place(attachments: Any, param: str):
    """gateway.md 19, D11: unknown keys inside an attachment are refused."""
    with pytest.raises(InvalidParam) as caught:
        AgentExtras({})("summarize_pdf", {"attachments": attachments})
    assert caught.value.data["param"] == param


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
