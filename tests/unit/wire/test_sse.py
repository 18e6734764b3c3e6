"""Events as bytes, read back the way the living standard reads them (section 9.2)."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from toolwire.wire.jsonrpc import notification_body
from toolwire.wire.sse import KEEPALIVE, event


def read(stream: bytes) -> list[dict[str, str]]:
    """Events of a whole stream; comments are skipped."""
    events: list[dict[str, str]] = []
    fields: dict[str, str] = {}
    for line in stream.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if not line:
            if fields:
                events.append(fields)
            fields = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
    return events


def test_an_event_is_a_message_with_data():
    assert read(event(b'{"a":1}')) == [{"event": "message", "data": '{"a":1}'}]


def test_an_event_may_carry_an_id():
    assert read(event(b"{}", "7")) == [{"event": "message", "id": "7", "data": "{}"}]


def test_a_keepalive_is_a_comment_that_no_reader_sees():
    assert KEEPALIVE.startswith(b":")
    assert read(event(b"1") + KEEPALIVE + event(b"2")) == [
        {"event": "message", "data": "1"},
        {"event": "message", "data": "2"},
    ]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5))
def test_whatever_text_a_message_holds_it_stays_one_event(texts: list[str]):
    stream = b"".join(event(notification_body("m", {"text": text})) for text in texts)
    messages: list[Any] = [json.loads(found["data"]) for found in read(stream)]
    assert [message["params"]["text"] for message in messages] == texts
