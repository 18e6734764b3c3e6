"""What the commands make of the answers of a host's REST surface."""

from collections.abc import Callable

import httpx2
import pytest

from toolwire.cli.failure import Failed
from toolwire.cli.rest import Rest
from toolwire.cli.target import Target

HOST = Target("http://127.0.0.1:8094", "oag_1")


def answered(handle: Callable[[httpx2.Request], httpx2.Response]) -> Rest:
    return Rest(HOST, httpx2.MockTransport(handle))


def test_the_data_of_the_envelope_is_the_answer_and_the_key_goes_along():
    def handle(request: httpx2.Request) -> httpx2.Response:
        assert request.headers["authorization"] == "Bearer oag_1"
        assert (request.method, request.url.path, request.content) == ("POST", "/api/v1/agents", b'{"name":"a"}')
        return httpx2.Response(201, json={"success": True, "data": [1]})

    with answered(handle) as rest:
        assert rest.ask("POST", "/api/v1/agents", {"name": "a"}) == [1]


def test_an_answer_without_a_body_is_none():
    with answered(lambda _: httpx2.Response(204)) as rest:
        assert rest.ask("DELETE", "/x") is None


def test_a_refusal_is_told_in_the_hosts_words_and_code():
    error = {"code": "conflict", "message": "taken", "details": {"retryable": True}, "type": "t", "request_id": "r"}

    with (
        answered(lambda _: httpx2.Response(409, json={"success": False, "error": error})) as rest,
        pytest.raises(Failed, match="taken") as caught,
    ):
        rest.ask("POST", "/x")
    assert (caught.value.code, caught.value.data) == ("conflict", {"retryable": True})


@pytest.mark.parametrize("response", [httpx2.Response(200, text="<html>"), httpx2.Response(404, json={"detail": "no"})])
def test_something_that_is_no_host_is_recognised(response: httpx2.Response):
    with answered(lambda _: response) as rest, pytest.raises(Failed, match=r"not as a Toolwire host does"):
        rest.ask("GET", "/x")


def test_a_host_that_does_not_answer_is_said_not_to():
    def handle(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("refused")

    with answered(handle) as rest, pytest.raises(Failed, match=r"no host answers at http://127.0.0.1:8094: refused"):
        rest.ask("GET", "/x")
