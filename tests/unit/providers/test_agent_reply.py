"""What an agent says, as results and progress (gateway.md 1H, 12, 13, 17, D17, D18; docstring of wire/link.py)."""

from base64 import b64encode
from typing import Any

import pytest
from msgspec import UNSET

from toolwire.core.errors import AgentBusy, InvalidAgentResponse, OutcomeUnknown
from toolwire.core.event import Event, Log, Paused, Progress
from toolwire.core.result import (
    TOOL_FAILED,
    Audio,
    Embedded,
    Failure,
    Image,
    Link,
    ResourceContents,
    Text,
)
from toolwire.providers.agent_reply import event_of, result_of
from toolwire.wire.link import Message

PNG = b64encode(b"\x89PNG").decode()


def message(payload: dict[str, Any], type_: str = "agent_reply") -> Message:
    return Message("m_2", "ch_1", 2, type_, payload, "agent_1", "2026-11-30T12:00:00.000Z", "m_1")


@pytest.mark.parametrize(
    ("payload", "content"),
    [
        ({"text": "hi"}, (Text("hi"),)),
        ({"text": ""}, (Text(""),)),
        ({}, (Text(""),)),
        ({"text": None}, (Text(""),)),
        ({"text": "hi", "is_error": False, "error": None, "unknown": 1}, (Text("hi"),)),
        ({"content": [], "text": "hi"}, (Text("hi"),)),
        ({"content": [{"type": "text", "text": "a"}], "text": "not this"}, (Text("a"),)),
        ({"content": [{"type": "image", "data": PNG, "mimeType": "image/png"}]}, (Image(PNG, "image/png"),)),
        ({"content": [{"type": "audio", "data": PNG, "mimeType": "audio/wav"}]}, (Audio(PNG, "audio/wav"),)),
        (
            {"content": [{"type": "resource", "resource": {"uri": "file:///a/b.txt", "text": "x"}}]},
            (Embedded(ResourceContents("file:///a/b.txt", text="x")),),
        ),
        (
            {"content": [{"type": "resource", "resource": {"uri": "x:/a/b.pdf", "mimeType": "application/pdf"}}]},
            (Link("x:/a/b.pdf", "b.pdf", mime_type="application/pdf"),),
        ),
        ({"content": [{"type": "resource_link", "uri": "x:y", "name": "n"}]}, (Link("x:y", "n"),)),
        ({"structured": {"b": 1, "a": [2]}}, (Text('{"a":[2],"b":1}'),)),
    ],
)
def test_an_answer_becomes_content(payload: dict[str, Any], content: tuple[Any, ...]):
    """gateway.md 12, 13, D17: text is one block, an empty answer an empty block, a bare resource a link."""
    result = result_of(message(payload))
    assert result.content == content
    assert result.error is None


def test_structured_content_is_kept_as_it_came_even_when_it_is_null():
    assert result_of(message({"text": "x", "structured": None})).structured is None
    assert result_of(message({"text": "x"})).structured is UNSET


@pytest.mark.parametrize(
    ("type_", "payload", "text", "error"),
    [
        ("agent_reply", {"text": "x", "is_error": True}, "x", Failure(TOOL_FAILED, "x")),
        ("agent_reply", {"text": "", "error": "broke"}, "broke", Failure(TOOL_FAILED, "broke")),
        (
            "agent_reply",
            {"text": "", "error": {"message": "broke", "code": "e_1"}},
            "broke",
            Failure(TOOL_FAILED, "broke", {"agent_code": "e_1"}),
        ),
        (
            "agent_reply",
            {"is_error": True},
            "the agent failed and did not say why",
            Failure(TOOL_FAILED, "agent_reply"),
        ),
        ("agent_reply_error", {"text": "x"}, "x", Failure(TOOL_FAILED, "x")),
        ("agent.refuse", {"text": "no"}, "no", Failure(TOOL_FAILED, "no")),
        ("agent.refuse", {}, "the agent refused the call", Failure(TOOL_FAILED, "agent.refuse")),
        (
            "agent_reply",
            {"text": "no such tool", "is_error": True, "code": "tool_not_found"},
            "no such tool",
            Failure(TOOL_FAILED, "no such tool", {"agent_code": "tool_not_found"}),
        ),
        (
            "agent_reply",
            {"text": "x", "is_error": True, "code": "unauthorized"},
            "x",
            Failure(TOOL_FAILED, "x", {"agent_code": "unauthorized"}),
        ),
    ],
)
def test_an_agents_failure_is_a_result_that_the_model_reads(
    type_: str, payload: dict[str, Any], text: str, error: Failure
):
    """gateway.md D18; an agent's code never becomes one of ours, so that it cannot forge a 401."""
    result = result_of(message(payload, type_))
    assert result.content == (Text(text),)
    assert result.error == error


def test_a_failure_keeps_its_blocks():
    blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    result = result_of(message({"content": blocks, "is_error": True}))
    assert result.content == (Text("a"), Text("b"))
    assert result.error == Failure(TOOL_FAILED, "a\nb")


def test_busy_and_unknown_outcomes_are_errors_of_their_own():
    """gateway.md §6, error table."""
    with pytest.raises(AgentBusy):
        result_of(message({}, "agent_busy"))
    with pytest.raises(OutcomeUnknown):
        result_of(message({"text": "?", "is_error": True, "code": "outcome_unknown"}))


@pytest.mark.parametrize(
    "payload",
    [
        {"text": 5},
        {"content": "x"},
        {"content": [{"type": "video"}]},
        {"content": [{"type": "text"}]},
        {"content": [{"type": "image", "data": "not base64!", "mimeType": "image/png"}]},
        {"content": [{"type": "image", "data": "ÄÖ", "mimeType": "image/png"}]},
        {"content": [{"type": "resource", "resource": {"uri": "x:y", "text": "a", "blob": PNG}}]},
        {"content": [{"type": "resource", "resource": {"uri": "x:y", "blob": "%"}}]},
        {"text": "x", "is_error": "yes"},
        {"text": "x", "code": 5},
    ],
)
def test_what_is_no_answer_is_an_invalid_agent_response(payload: dict[str, Any]):
    """gateway.md D17: agent-supplied blocks are checked."""
    with pytest.raises(InvalidAgentResponse):
        result_of(message(payload))


@pytest.mark.parametrize(
    ("payload", "progress"),
    [
        ({"text": "a piece"}, Progress(0, None, "a piece")),
        ({"text": ""}, None),
        ({}, None),
        ({"text": 5}, None),
        ({"text": "", "progress": {"progress": 3, "total": 10, "message": "page 3"}}, Progress(3, 10, "page 3")),
        ({"text": "", "progress": {"progress": "x"}}, None),
        (
            {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}}},
            Progress(0, None, "a"),
        ),
        ({"update": {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "a"}}}, None),
        ({"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "image"}}}, None),
        ({"update": {"sessionUpdate": "agent_message_chunk", "content": "x"}}, None),
        ({"update": "x"}, None),
        ({"text": "", "log": {"level": "info", "text": "a", "logger": "l"}}, Log("info", "a", "l")),
        ({"text": "", "log": {"level": "info"}}, None),
        ({"text": "", "pause": {}}, Paused()),
        ({"text": "", "pause": {"retry_after_s": 2.5}}, Paused(2.5)),
        ({"text": "", "pause": {"retry_after_s": "soon"}}, Paused()),
        ({"update": {}}, None),
    ],
)
def test_a_delta_becomes_an_event_or_nothing(payload: dict[str, Any], progress: Event | None):
    """gateway.md 17, 1H, D20: thoughts and odd shapes never reach the caller and never end the call."""
    assert event_of(payload) == progress


@pytest.mark.parametrize(
    ("code", "data", "ended"),
    [
        ("missing_client_capability", {"requiredCapabilities": {"roots": {}}, "x": 1}, "missing_client_capability"),
        ("url_elicitation_required", {"elicitations": [{"mode": "url"}]}, "url_elicitation_required"),
        ("missing_client_capability", {}, "tool_failed"),
        ("unauthorized", {"requiredCapabilities": {}}, "tool_failed"),
    ],
)
def test_what_the_client_itself_must_do_something_about_keeps_its_code(code: str, data: Any, ended: str):
    """mcp.md 1.2, missing client capability and URL elicitation; gateway.md D16, D18 for everything else."""
    error = result_of(message({"text": "no", "is_error": True, "code": code, "data": data})).error
    assert error is not None
    assert error.code == ended
    if ended == code:
        assert (error.message, error.data) == ("no", {key: value for key, value in data.items() if key != "x"})
