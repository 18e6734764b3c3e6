"""gateway.md §6 (REST), D16: one envelope for every error, the checks before any route, and what goes to whom."""

from collections.abc import Sequence
from typing import Any

import httpx2
import msgspec
import pytest
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from tests.unit.gateway.world import World, open_world
from toolwire.core.errors import RateLimited
from toolwire.gateway.app import gateway_app
from toolwire.gateway.rest import Reader
from toolwire.surfaces.limits import Guard
from toolwire.surfaces.rest import RestApp, answer, done, query_number


class Point(Struct):
    x: int
    names: list[str] = []


def client_of(app: Any) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost:8094")


def rest_of(world: World, routes: Sequence[Route] = ()) -> RestApp:
    reader = Reader(world.auth, world.agents, max_bytes=4096)

    async def echo(request: Request) -> Response:
        point = await reader.body(request, Point)
        return answer({"x": point.x, "limit": query_number(request, "limit", 50, 1, 200)}, 201)

    async def fail(request: Request) -> Response:
        raise ValueError("the secret is bak_0123")

    async def wait(request: Request) -> Response:
        raise RateLimited("slower, please", retry_after_ms=1500)

    async def own(request: Request) -> Response:
        reader.identify(request, "oag")
        return done()

    mounted = [
        Route("/api/v1/points", echo, methods=["POST"]),
        Route("/api/v1/points", own, methods=["GET"]),
        Route("/api/v1/fail", fail, methods=["GET"]),
        Route("/api/v1/wait", wait, methods=["GET"]),
        Route("/api/v1/channels/{channel}/x", own, methods=["GET"]),
    ]
    return RestApp([*routes, *mounted], Guard(), lambda: 'Bearer realm="MCP"', "/channels")


async def asked(method: str, path: str, **given: Any) -> httpx2.Response:
    async with client_of(rest_of(await open_world())) as client:
        return await client.request(method, path, **given)


def code_of(response: httpx2.Response) -> str:
    """The error's code, after a look at the envelope around it."""
    body = response.json()
    assert body["success"] is False
    error = body["error"]
    assert set(error) == {"type", "code", "message", "details", "request_id"}
    assert error["type"] == ("server_error" if response.status_code >= 500 else "client_error")
    assert response.headers["x-request-id"] == error["request_id"]
    assert response.headers["content-type"] == "application/json"
    return error["code"]


async def test_a_good_answer_stands_in_the_envelope_and_is_kept_by_no_cache():
    response = await asked("POST", "/api/v1/points?limit=7", json={"x": 1})
    assert (response.status_code, response.json()) == (201, {"success": True, "data": {"x": 1, "limit": 7}})
    assert response.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("body", "status", "code", "param"),
    [
        (b'{"x": ', 400, "parse_error", None),
        (b"", 400, "parse_error", None),
        (b'{"x": "\xff"}', 400, "parse_error", None),
        (b"[" * 3000, 400, "parse_error", None),
        (b'{"x": %b}' % (b"[" * 200 + b"]" * 200), 400, "parse_error", None),
        (b"[]", 400, "invalid_param", ""),
        (b"{}", 400, "invalid_param", ""),
        (b'{"x": "one"}', 400, "invalid_param", "x"),
        (b'{"x": 1, "names": ["a", 2]}', 400, "invalid_param", "names[1]"),
        (b'{"x": 1, "more": "' + b"y" * 4096 + b'"}', 413, "payload_too_large", None),
    ],
)
async def test_a_body_that_does_not_fit_is_refused(body: bytes, status: int, code: str, param: str | None):
    response = await asked("POST", "/api/v1/points", content=body, headers={"content-type": "application/json"})
    assert (response.status_code, code_of(response)) == (status, code)
    if param is not None:
        assert response.json()["error"]["details"]["param"] == param


@pytest.mark.parametrize("limit", ["0", "201", "-1", "1.5", "", "x", "9" * 30, "²"])
async def test_a_number_of_the_query_is_held_to_its_bounds(limit: str):
    response = await asked("POST", "/api/v1/points", json={"x": 1}, params={"limit": limit})
    assert (response.status_code, code_of(response)) == (400, "invalid_param")


async def test_a_body_that_is_not_json_is_an_unsupported_media_type():
    response = await asked("POST", "/api/v1/points", content=b'{"x": 1}', headers={"content-type": "text/plain"})
    assert (response.status_code, code_of(response)) == (415, "unsupported_media_type")


async def test_an_unknown_path_and_a_wrong_method_are_told_apart():
    """The allowed methods of all routes on the path are named."""
    response = await asked("GET", "/api/v1/nothing")
    assert (response.status_code, code_of(response)) == (404, "route_not_found")
    response = await asked("PUT", "/api/v1/points")
    assert (response.status_code, code_of(response)) == (405, "method_not_allowed")
    assert response.headers["allow"] == "GET, HEAD, POST"


async def test_a_mistake_of_ours_is_logged_and_says_nothing_to_the_client(caplog: pytest.LogCaptureFixture):
    response = await asked("GET", "/api/v1/fail")
    assert (response.status_code, code_of(response)) == (500, "internal_error")
    assert "bak_" not in response.text
    assert response.json()["error"]["request_id"] in caplog.text


async def test_too_many_requests_say_when_to_come_back():
    response = await asked("GET", "/api/v1/wait")
    assert (response.status_code, code_of(response)) == (429, "rate_limited")
    assert response.headers["retry-after"] == "2"
    assert response.json()["error"]["details"]["retryable"] is True


async def test_without_a_key_the_challenge_comes_along():
    response = await asked("GET", "/api/v1/points")
    assert (response.status_code, code_of(response)) == (401, "unauthorized")
    assert response.headers["www-authenticate"] == 'Bearer realm="MCP"'


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"host": "evil.example.com"}, 421, "host_not_allowed"),
        ({"origin": "http://evil.example.com"}, 403, "origin_not_allowed"),
    ],
)
async def test_other_hosts_and_pages_are_refused_before_any_route(headers: dict[str, str], status: int, code: str):
    response = await asked("GET", "/api/v1/points", headers=headers)
    assert (response.status_code, code_of(response)) == (status, code)


async def test_channels_without_the_prefix_are_the_same_channels():
    """gateway.md §6: `/channels/…` is an alias."""
    assert (await asked("GET", "/channels/ch_1/x")).status_code == 401
    assert (await asked("GET", "/channelsx")).status_code == 404


async def test_a_client_that_goes_away_is_not_answered():
    app = rest_of(await open_world())
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope: Scope = {"type": "http", "method": "POST", "path": "/api/v1/points", "headers": headers, "query_string": b""}
    await app(scope, receive, send)
    assert sent == []


class Named:
    """An ASGI application that says which one it is, and which socket it was given."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sockets: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            self.sockets.append(scope["path"])
            return
        await Response(self.name)(scope, receive, send)


async def test_mcp_paths_go_to_mcp_and_everything_else_to_rest():
    app = gateway_app(Named("mcp"), lambda path: path == "/agent_1/mcp", Named("rest"), Named("link"), Guard())
    async with client_of(app) as client:
        told = {path: (await client.get(path)).text for path in ("/agent_1/mcp", "/api/v1/mcp", "/healthz", "/")}
    assert told == {"/agent_1/mcp": "mcp", "/api/v1/mcp": "rest", "/healthz": "rest", "/": "rest"}


@pytest.mark.parametrize(
    ("path", "headers", "linked"),
    [
        ("/api/v1/agents/link", [(b"host", b"localhost:8094")], True),
        ("/api/v1/agents/other", [(b"host", b"localhost:8094")], False),
        ("/api/v1/agents/link", [(b"host", b"evil.example")], False),
        ("/api/v1/agents/link", [(b"host", b"localhost"), (b"origin", b"http://evil.example")], False),
    ],
)
async def test_a_websocket_is_the_agents_link_or_nothing(path: str, headers: list[tuple[bytes, bytes]], linked: bool):
    link = Named("link")
    app = gateway_app(Named("mcp"), lambda _: False, Named("rest"), link, Guard())
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    await app({"type": "websocket", "path": path, "headers": headers}, receive, send)
    assert link.sockets == ([path] if linked else [])
    assert [message["type"] for message in sent] == ([] if linked else ["websocket.close"])


def test_the_envelope_is_json_all_the_way():
    assert msgspec.json.decode(bytes(answer({"a": None}).body)) == {"success": True, "data": {"a": None}}
