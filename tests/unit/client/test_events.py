"""Events are read from whatever pieces they come in, and reading goes on after the last one that has come."""

import pytest

from toolwire.client.asks import ApiError, Watch, get
from toolwire.client.events import Reading
from toolwire.wire.answers.calls import Answer, CallEvent, ErrorEvent, LogEvent, ProgressEvent, ResultEvent
from toolwire.wire.sse import KEEPALIVE, comment, event, retry

AT = "2026-01-31T12:00:00.000Z"
PROGRESS = f'{{"type":"progress","progress":1,"total":2,"at":"{AT}"}}'.encode()
LOG = f'{{"type":"log","level":"info","text":"é","at":"{AT}"}}'.encode()
RESULT = (
    f'{{"type":"result","at":"{AT}","result":{{"task_id":"call_1","context_id":null,"text":"x",'
    f'"content":[{{"type":"text","text":"x"}}],"is_error":false}}}}'
).encode()


def reading() -> Reading[CallEvent]:
    ask = get("/tasks/1/events", Answer)
    return Reading(Watch(ask=ask, event=CallEvent, last=(ResultEvent, ErrorEvent)))


@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
def test_events_are_whole_whatever_the_pieces(size: int):
    wire = KEEPALIVE + event(PROGRESS, "1") + comment("hello") + retry(100) + event(LOG, "2") + event(RESULT, "3")
    reader = reading()
    reader.again()
    found = [one for at in range(0, len(wire), size) for one in reader.feed(wire[at : at + size])]
    assert [type(one) for one in found] == [ProgressEvent, LogEvent, ResultEvent]
    assert found[1] == LogEvent(level="info", text="é", at=AT)
    assert reader.is_over


def test_lines_may_end_with_carriage_returns_too():
    reader = reading()
    reader.again()
    assert len(list(reader.feed(event(PROGRESS, "1").replace(b"\n", b"\r\n")))) == 1


def test_reading_goes_on_after_the_last_event_that_was_whole():
    reader = reading()
    assert "last-event-id" not in reader.again().headers
    assert len(list(reader.feed(event(PROGRESS, "1") + b"id: 2\ndata: {"))) == 1
    assert reader.has_read
    again = reader.again()
    assert again.headers["last-event-id"] == "1"
    assert again.headers["accept"] == "text/event-stream"
    assert [type(one) for one in reader.feed(event(LOG, "2"))] == [LogEvent]


@pytest.mark.parametrize("data", [b"{", b'{"type":"unheard"}', b"\xff\xfe"])
def test_what_is_no_event_of_ours_is_an_error(data: bytes):
    reader = reading()
    reader.again()
    with pytest.raises(ApiError, match="not what a Toolwire host sends"):
        list(reader.feed(event(data)))
