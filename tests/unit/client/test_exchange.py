"""When a request is sent again, and when not: both doors follow the same steps (gateway.md 53, Retry-After)."""

from collections.abc import Sequence

import httpx2
import pytest

from toolwire.client import Client
from toolwire.client.asks import ApiError, Ask, Reply, get, post
from toolwire.client.exchange import Lost, Pause, Send, steps_of
from toolwire.client.files import FileCalls
from toolwire.wire.answers.agents import Health

GOOD = Reply(200, {}, b'{"success":true,"data":{"status":"ok"}}')
LOST = Lost("reset")
READ: Ask[Health] = get("/health", Health)


def refused(status: int, code: str, retryable: bool, **headers: str) -> Reply:
    words = f'"type":"client_error","code":"{code}","message":"no","request_id":"req_1"'
    body = f'{{"success":false,"error":{{{words},"details":{{"retryable":{str(retryable).lower()}}}}}}}'
    return Reply(status, {name.replace("_", "-"): value for name, value in headers.items()}, body.encode())


def sent(ask: Ask[Health], replies: Sequence[Reply | Lost], tries: int = 3) -> tuple[Health | ApiError, list[float]]:
    """How it ends, and the pauses in between; `replies` are used up."""
    left, pauses = list(replies), list[float]()
    steps = steps_of(ask, tries)
    reply: Reply | Lost | None = None
    end: Health | ApiError
    try:
        while True:
            match steps.send(reply):
                case Send():
                    reply = left.pop(0)
                case Pause(seconds):
                    pauses.append(seconds)
                    reply = None
    except StopIteration as done:
        end = done.value
    except ApiError as error:
        end = error
    assert left == []
    return end, pauses


def test_what_is_read_is_asked_for_again_when_the_connection_breaks():
    end, pauses = sent(READ, [LOST, LOST, GOOD])
    assert end == Health("ok")
    assert len(pauses) == 2
    assert 0 < pauses[0] <= 0.2 < 2 * pauses[1] <= 0.8


def test_the_hosts_retry_after_is_waited_for():
    end, pauses = sent(READ, [refused(429, "rate_limited", True, retry_after="7"), GOOD])
    assert (end, pauses) == (Health("ok"), [7.0])


def test_a_host_that_wants_a_longer_pause_than_is_waited_for_is_handed_on():
    end, pauses = sent(READ, [refused(429, "rate_limited", True, retry_after="3600")])
    assert isinstance(end, ApiError)
    assert (end.code, end.status, pauses) == ("rate_limited", 429, [])


def test_what_is_refused_for_good_is_not_sent_again():
    end, pauses = sent(READ, [refused(404, "agent_not_found", False)])
    assert isinstance(end, ApiError)
    assert (end.code, end.status, end.request_id, end.retryable, pauses) == ("agent_not_found", 404, "req_1", False, [])


@pytest.mark.parametrize("reply", [LOST, refused(503, "agent_offline", True), refused(429, "rate_limited", True)])
def test_what_may_have_been_done_is_not_sent_again(reply: Reply | Lost):
    end, pauses = sent(post("/calls", Health, {}), [reply])
    assert isinstance(end, ApiError)
    assert (end.retryable, pauses) == (True, [])


def test_a_call_under_an_idempotency_key_is_sent_again_with_it():
    ask = post("/calls", Health, {}, key="once")
    assert ask.headers["idempotency-key"] == "once"
    end, pauses = sent(ask, [LOST, GOOD])
    assert (end, len(pauses)) == (Health("ok"), 1)


def test_it_ends_after_as_many_tries_as_it_was_told():
    end, pauses = sent(READ, [LOST, LOST], tries=2)
    assert isinstance(end, ApiError)
    assert (end.code, end.status, len(pauses)) == ("no_answer", None, 1)
    end, pauses = sent(READ, [LOST], tries=1)
    assert (isinstance(end, ApiError), pauses) == (True, [])


@pytest.mark.parametrize(
    "reply",
    [Reply(200, {}, b"<html>"), Reply(502, {}, b"bad gateway"), Reply(302, {}, b""), Reply(200, {}, b'{"a":1}')],
)
def test_whoever_is_no_toolwire_host_is_told_from_one(reply: Reply):
    end, _ = sent(READ, [reply])
    assert isinstance(end, ApiError)
    assert (end.code, end.status) == ("no_toolwire", reply.status)


def test_the_content_of_a_file_goes_to_a_signed_address_without_the_key():
    flow = FileCalls.upload._make(None, "a.txt", "text/plain", b"hi")  # pyright: ignore[reportPrivateUsage]
    assert not isinstance(flow, Ask)
    steps = steps_of(flow, 1)
    first = next(steps)
    assert isinstance(first, Send)
    assert first.ask.path == "/api/v1/files/presign-upload"
    announced = (
        b'{"data":{"file_id":"file_1","filename":"a.txt","content_type":"text/plain","upload_url":"http://h/api/v1/u",'
        b'"upload_expires_in":1,"download_url":"","download_expires_in":1,"max_bytes":9}}'
    )
    second = steps.send(Reply(200, {}, announced))
    assert isinstance(second, Send)
    assert (second.ask.method, second.ask.path, second.ask.signed) == ("PUT", "http://h/api/v1/u", True)
    assert second.ask.content == b"hi"


def test_an_address_without_a_host_is_refused_at_once():
    with pytest.raises(ValueError, match="no address of a host"):
        Client("localhost:8094", "oag_1", transport=httpx2.MockTransport(lambda _: httpx2.Response(500)))
