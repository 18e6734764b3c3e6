"""The messages between a card and its host (cards.md 28-68)."""

import msgspec
import pytest
from msgspec import UNSET

from toolwire.core.errors import InvalidRequest
from toolwire.wire.card import (
    Event,
    Response,
    event_body,
    fault_body,
    read_from_host,
    read_params,
    read_request,
    request_body,
    response_body,
)
from toolwire.wire.card_messages import (
    EVENTS,
    PARAMS,
    RESULTS,
    AgentRef,
    CardRef,
    Done,
    Fault,
    ImagePart,
    RespondParams,
    TextPart,
    ToolCallData,
    ToolResult,
)


def test_a_request_comes_out_as_it_went_in() -> None:
    sent = RespondParams("call_1", result=ToolResult((TextPart("ok"), ImagePart("iVBORw==", "image/png"))))
    request = read_request(request_body(7, "tools.respond", sent))
    assert (request.id, request.method) == (7, "tools.respond")
    assert read_params(request) == sent


def test_names_on_the_wire_are_those_of_typescript() -> None:
    call = ToolCallData("call_1", "run", "radar_run", {}, AgentRef("agt_1", "writer"), CardRef("c1", "radar"), 2.5, 1.0)
    assert msgspec.json.decode(event_body("tools.call", call))["data"] == {
        "callId": "call_1",
        "tool": "run",
        "exposedName": "radar_run",
        "arguments": {},
        "agent": {"id": "agt_1", "name": "writer"},
        "card": {"id": "c1", "name": "radar"},
        "deadline": 2.5,
        "remainingMs": 1.0,
    }


def test_a_card_tells_responses_refusals_and_events_apart() -> None:
    good = read_from_host(response_body(1, Done()))
    refused = read_from_host(fault_body(2, Fault("rate_limited", "too fast", 250)))
    event = read_from_host(event_body("host.ping", EVENTS["host.ping"]()))
    assert isinstance(good, Response)
    assert good.error is UNSET
    assert isinstance(refused, Response)
    assert refused.error == Fault("rate_limited", "too fast", 250)
    assert isinstance(event, Event)
    assert event.event == "host.ping"


def test_every_method_has_params_and_a_result() -> None:
    assert PARAMS.keys() == RESULTS.keys()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b'{"id":"1","method":"host.ready"}',
        b'{"id":1.5,"method":"x"}',
        b"[" * 5000,
        "\ud800",
    ],
)
def test_what_is_no_request_is_refused(text: bytes | str) -> None:
    with pytest.raises(InvalidRequest):
        read_request(text)


@pytest.mark.parametrize("text", [b"", b"\xff", b"[]", b"{}", b'{"id":"1"}', b'{"data":{}}', b'{"event":1}'])
def test_what_is_neither_a_response_nor_an_event_is_refused(text: bytes) -> None:
    with pytest.raises(InvalidRequest):
        read_from_host(text)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools.launch", b"{}"),
        ("tools.respond", b"{}"),
        ("tools.respond", b"[]"),
        ("tools.progress", b'{"callId":"c"}'),
        ("tools.respond", b'{"callId":"c","result":{"content":[{"type":"video"}]}}'),
        ("storage.get", b'{"key":"k","scope":"world"}'),
    ],
)
def test_params_that_do_not_fit_their_method_are_refused_by_its_name(method: str, params: bytes) -> None:
    request = read_request(b'{"id":1,"method":"%s","params":%s}' % (method.encode(), params))
    with pytest.raises(InvalidRequest, match=method):
        read_params(request)
