"""Both doors do the same with the same requests: they answer, retry, raise and go on reading alike."""

import json
from collections.abc import Iterable
from typing import Any

import httpx2
import pytest

from toolwire.client import ApiError, AsyncClient, AuditEntry, Client, Terms
from toolwire.wire.answers.calls import CallEvent
from toolwire.wire.sse import event

URL = "http://host.test/base"
AT = "2026-01-31T12:00:00.000Z"
PROGRESS = f'{{"type":"progress","progress":1,"at":"{AT}"}}'.encode()
ANSWER = '{"task_id":"call_1","context_id":null,"text":"x","content":[],"is_error":false}'
RESULT = f'{{"type":"result","at":"{AT}","result":{ANSWER}}}'.encode()
REFUSED = {
    "success": False,
    "error": {
        "type": "client_error",
        "code": "agent_not_found",
        "message": "no agent 'x'",
        "details": {"param": "agent", "retryable": False},
        "request_id": "req_1",
    },
}

DOORS = ["Client", "AsyncClient"]


class Host:
    """Answers one request after the other; `None` breaks the connection."""

    def __init__(self, answers: Iterable[httpx2.Response | None]) -> None:
        self.answers = list(answers)
        self.requests: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if answer is None:
            raise httpx2.ConnectError("refused")
        return answer


async def invoked(door: str, host: Host, **more: Any) -> Any:
    transport = httpx2.MockTransport(host)
    if door == "Client":
        with Client(URL, "bak_1", transport=transport) as client:
            return client.calls.invoke("a/b", "add", {"a": 1}, **more)
    async with AsyncClient(URL, "bak_1", transport=transport) as client:
        return await client.calls.invoke("a/b", "add", {"a": 1}, **more)


async def watched(door: str, host: Host, tries: int = 3) -> list[CallEvent]:
    transport = httpx2.MockTransport(host)
    if door == "Client":
        with Client(URL, "bak_1", transport=transport, tries=tries) as client:
            return list(client.tasks.events("a", "call_1"))
    async with AsyncClient(URL, "bak_1", transport=transport, tries=tries) as client:
        return [one async for one in client.tasks.events("a", "call_1")]


def stream(*data: bytes) -> httpx2.Response:
    body = b"".join(event(one, str(number)) for number, one in enumerate(data, 1))
    return httpx2.Response(200, content=body, headers={"content-type": "text/event-stream"})


@pytest.mark.parametrize("door", DOORS)
async def test_a_call_is_one_request_with_the_key_and_its_answer_is_typed(door: str):
    host = Host([httpx2.Response(200, text=f'{{"success":true,"data":{ANSWER}}}')])
    answer = await invoked(door, host)
    assert (answer.task_id, answer.text, answer.is_error) == ("call_1", "x", False)
    (request,) = host.requests
    assert str(request.url) == f"{URL}/api/v1/agents/a%2Fb/invoke"
    assert request.headers["authorization"] == "Bearer bak_1"
    assert request.content == b'{"tool":"add","arguments":{"a":1}}'


@pytest.mark.parametrize("door", DOORS)
async def test_a_refusal_is_raised_with_its_code_status_and_details(door: str):
    with pytest.raises(ApiError, match="no agent 'x'") as raised:
        await invoked(door, Host([httpx2.Response(404, json=REFUSED)]))
    error = raised.value
    assert (error.code, error.status, error.details["param"]) == ("agent_not_found", 404, "agent")


@pytest.mark.parametrize("door", DOORS)
async def test_only_a_call_with_an_idempotency_key_outlives_a_broken_connection(door: str):
    good = httpx2.Response(200, text=f'{{"success":true,"data":{ANSWER}}}')
    host = Host([None, good])
    assert (await invoked(door, host, terms=Terms(idempotency_key="k"))).text == "x"
    assert [request.headers["idempotency-key"] for request in host.requests] == ["k", "k"]
    with pytest.raises(ApiError, match="no host answers") as raised:
        await invoked(door, Host([None]))
    assert (raised.value.code, raised.value.status) == ("no_answer", None)


@pytest.mark.parametrize("door", DOORS)
async def test_a_task_is_read_to_its_end_over_breaks_of_the_connection(door: str):
    host = Host([stream(PROGRESS), None, stream(PROGRESS, RESULT)])
    events = await watched(door, host)
    assert [type(one).__name__ for one in events] == ["ProgressEvent", "ProgressEvent", "ResultEvent"]
    assert [request.headers.get("last-event-id") for request in host.requests] == [None, "1", "1"]


@pytest.mark.parametrize("door", DOORS)
async def test_a_stream_that_breaks_off_time_and_again_is_given_up(door: str):
    with pytest.raises(ApiError, match="broke off"):
        await watched(door, Host([None, None]), tries=2)
    with pytest.raises(ApiError) as raised:
        await watched(door, Host([httpx2.Response(404, json=REFUSED)]))
    assert raised.value.status == 404


def test_the_key_of_a_signed_address_is_in_the_address_alone():
    file = (
        '{"file_id":"file_1","filename":"a","content_type":"t","size":2,"created_at":"","expires_at":"",'
        '"download_url":"https://public.test/api/v1/files/file_1/content?signature=s","download_expires_in":1}'
    )
    host = Host([httpx2.Response(200, text=f'{{"data":{file}}}'), httpx2.Response(200, content=b"hi")])
    with Client(URL, "oag_1", transport=httpx2.MockTransport(host)) as client:
        assert client.files.download("file_1") == b"hi"
    assert "authorization" in host.requests[0].headers
    assert "authorization" not in host.requests[1].headers
    assert str(host.requests[1].url) == f"{URL}/api/v1/files/file_1/content?signature=s"


async def test_what_comes_as_lines_is_read_as_a_list():
    entry = dict.fromkeys(AuditEntry.__struct_fields__[1:12], "x")
    lines = "".join(f"{json.dumps({'seq': seq, **entry})}\n" for seq in (4, 5))
    host = Host([httpx2.Response(200, text=lines), httpx2.Response(200, text="")])
    with Client(URL, "oag_1", transport=httpx2.MockTransport(host)) as client:
        assert [one.seq for one in client.audit.list(after=3, limit=2)] == [4, 5]
        assert client.audit.list(after=5) == []
    assert str(host.requests[0].url) == f"{URL}/api/v1/audit?after=3&limit=2"


def test_methods_carry_their_own_words_for_help():
    with Client(URL, "oag_1", transport=httpx2.MockTransport(Host([]))) as client:
        assert client.agents.get.__name__ == "get"
        assert client.agents.get.__doc__ == "One agent, for all who may see it."
