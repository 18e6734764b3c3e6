"""The transport under the official client: a request that fails is answered, and harms no other."""

from collections.abc import Callable

import httpx2
import pytest

from toolwire.providers.remote_http import MARK, SteadyTransport, shown_url

URL = "http://127.0.0.1/mcp"


async def posted(answer: Callable[[httpx2.Request], httpx2.Response], **headers: str) -> httpx2.Response:
    inner = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
    async with httpx2.AsyncClient(transport=SteadyTransport(inner, URL, max_body_bytes=1000)) as client:
        return await client.post(URL, json={}, headers=headers)


def raising(error: Exception) -> Callable[[httpx2.Request], httpx2.Response]:
    def answer(_request: httpx2.Request) -> httpx2.Response:
        raise error

    return answer


@pytest.mark.parametrize(
    ("error", "mark"),
    [
        (httpx2.ConnectError("Connection refused"), "unreachable"),
        (httpx2.ConnectTimeout(""), "unreachable"),
        (httpx2.ReadError("reset"), "lost"),
        (httpx2.RemoteProtocolError("gone"), "lost"),
    ],
)
async def test_a_failure_becomes_an_answer_that_says_whether_the_request_was_sent(error: Exception, mark: str):
    response = await posted(raising(error))

    assert response.json()["error"]["data"] == {MARK: mark}


async def test_an_answer_without_end_is_not_kept():
    response = await posted(lambda _request: httpx2.Response(200, content=b"x" * 1001))

    assert response.json()["error"]["message"] == f"{URL} answered with more than 1000 bytes"


@pytest.mark.parametrize(
    ("headers", "mark"), [({"mcp-session-id": "s"}, "no_session"), ({}, "refused")], ids=["session", "none"]
)
async def test_a_404_is_a_lost_session_only_where_there_was_one(headers: dict[str, str], mark: str):
    response = await posted(lambda _request: httpx2.Response(404, text="who?"), **headers)

    assert response.json()["error"]["data"] == {MARK: mark}


async def test_what_a_server_says_in_json_rpc_stays():
    said = {"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "no"}}
    response = await posted(lambda _request: httpx2.Response(400, json=said))

    assert (response.status_code, response.json()) == (400, said)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:word@example.org:8443/mcp?key=word#word", "https://example.org:8443/mcp"),
        ("https://example.org/mcp", "https://example.org/mcp"),
        ("http://example.org:port/mcp", "the server's URL"),
    ],
)
def test_a_url_is_shown_without_what_may_be_secret(url: str, shown: str):
    assert shown_url(url) == shown
