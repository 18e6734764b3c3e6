"""The rungs that every HTTP request climbs, in their order, each with its status and its code (mcp.md 1.3)."""

import json
from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

import pytest

from tests.interaction.bench import ERAS, NEW, OLD, Bench, body, headers, open_bench
from tests.interaction.requirements import HTTP_2025, HTTP_2026, proves
from tests.interaction.transport import Answer

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
LIMIT = 1024 * 1024


class Request:
    """A good tools/list, to be spoilt."""

    def __init__(self, era: str) -> None:
        self.method = "POST"
        self.headers: dict[str, Any] = headers(era, "tools/list")
        self.message: Any = json.loads(body("tools/list", era=era))
        self.raw: bytes | None = None

    async def send(self, bench: Bench) -> Answer:
        sent = json.dumps(self.message).encode() if self.raw is None else self.raw
        return await bench.client.ask(self.method, "/mcp", self.headers, sent)


class Rung(NamedTuple):
    """A fault, what it spoils, and what it is answered with."""

    name: str
    eras: tuple[str, ...]
    spoils: str
    spoil: Callable[[Request], None]
    status: int
    code: int
    token: str


def header(name: str, value: Any) -> Callable[[Request], None]:
    return lambda request: request.headers.update({name: value})


def method(name: str) -> Callable[[Request], None]:
    return lambda request: setattr(request, "method", name)


def raw(sent: bytes) -> Callable[[Request], None]:
    return lambda request: setattr(request, "raw", sent)


def meta(**members: Any) -> Callable[[Request], None]:
    return lambda request: request.message["params"].update(_meta=members)


RUNGS = [
    Rung("host", ERAS, "host", header("host", "evil.example.com"), 421, -32600, "host_not_allowed"),
    Rung("origin", ERAS, "origin", header("origin", "http://evil.example.com"), 403, -32600, "origin_not_allowed"),
    Rung("method", ERAS, "method", method("PUT"), 405, -32600, "method_not_allowed"),
    Rung("media type", ERAS, "type", header("content-type", "text/plain"), 415, -32600, "unsupported_media_type"),
    Rung("accept", ERAS, "accept", header("accept", "text/html"), 406, -32600, "not_acceptable"),
    Rung("size", ERAS, "body", raw(b" " * (LIMIT + 1)), 413, -32600, "payload_too_large"),
    Rung("json", ERAS, "body", raw(b"{"), 400, -32700, "parse_error"),
    Rung("batch", ERAS, "body", raw(b"[]"), 400, -32600, "invalid_request"),
    Rung("twice", (NEW,), "mcp-method", header("mcp-method", ["a", "a"]), 400, -32020, "header_mismatch"),
    Rung("meta", (NEW,), "body", meta(), 400, -32602, "invalid_param"),
    Rung("mismatch", (NEW,), "mcp-method", header("mcp-method", "ping"), 400, -32020, "header_mismatch"),
]  # fmt: skip


async def refusal(answer: Answer, era: str, rung: Rung) -> Any:
    """The error of an answer, after a look at all that every refusal must have."""
    assert answer.status == rung.status, rung.name
    message = await answer.json()
    assert message.keys() == {"jsonrpc", "id", "error"}
    error = message["error"]
    assert (error["code"], error["data"]["code"]) == (rung.code, rung.token)
    assert error["data"]["request_id"].startswith("req_")
    assert "mcp-session-id" not in answer.headers
    return message


@proves("ladder.host")
@proves("ladder.origin")
@proves("ladder.method")
@proves("ladder.media-type")
@proves("ladder.accept")
@proves("ladder.size")
@proves("ladder.json")
@proves("ladder.one-message")
@proves("errors.body")
@pytest.mark.parametrize("era", ERAS)
async def test_each_fault_has_its_status_and_its_code(era: str):
    async with open_bench() as bench:
        for rung in RUNGS:
            if era in rung.eras:
                request = Request(era)
                rung.spoil(request)
                await refusal(await request.send(bench), era, rung)
        assert (await Request(era).send(bench)).status == 200


@proves("ladder.order")
@pytest.mark.parametrize("era", ERAS)
async def test_of_two_faults_the_earlier_rung_answers(era: str):
    async with open_bench() as bench:
        for first, second in combinations(RUNGS, 2):
            if era in first.eras and era in second.eras and first.spoils != second.spoils:
                request = Request(era)
                second.spoil(request)
                first.spoil(request)
                await refusal(await request.send(bench), era, first)


@proves("ladder.order", HTTP_2026)
async def test_a_header_that_differs_is_told_before_a_version_that_is_not_ours():
    async with open_bench() as bench:
        request = Request(NEW)
        request.headers.update({"mcp-protocol-version": "v999.0.0", "mcp-method": "ping"})
        request.message["params"]["_meta"][VERSION] = "v999.0.0"
        assert (await (await request.send(bench)).json())["error"]["code"] == -32020
        request.headers["mcp-method"] = "tools/list"
        assert (await (await request.send(bench)).json())["error"]["code"] == -32022


@proves("ladder.host")
@proves("ladder.origin")
@pytest.mark.parametrize("era", ERAS)
async def test_this_machines_names_and_pages_are_let_in(era: str):
    async with open_bench() as bench:
        for host, origin in [
            ("localhost:8095", "http://localhost:8095"),
            ("127.0.0.1:8095", "http://localhost:3000"),
            ("[::1]:8095", ""),
        ]:
            request = Request(era)
            request.headers.update(host=host, origin=origin)
            assert (await request.send(bench)).status == 200


@proves("ladder.method")
@pytest.mark.parametrize(("era", "allow"), [(OLD, "POST, DELETE"), (NEW, "POST")])
async def test_other_methods_are_told_which_ones_there_are(era: str, allow: str):
    async with open_bench() as bench:
        for name in ("GET", "HEAD", "PUT", "PATCH", "TRACE"):
            request = Request(era)
            request.method = name
            answer = await request.send(bench)
            assert (answer.status, answer.headers["allow"]) == (405, allow)


@proves("ladder.method")
async def test_a_browser_that_asks_first_is_told_the_methods():
    async with open_bench() as bench:
        answer = await bench.client.ask("OPTIONS", "/mcp", {})
        assert (answer.status, await answer.body()) == (204, b"")
        assert answer.headers == {"allow": "POST, DELETE"}


@proves("ladder.media-type")
@pytest.mark.parametrize("era", ERAS)
async def test_json_in_utf_8_is_json_however_it_is_declared(era: str):
    async with open_bench() as bench:
        for declared, status in [
            ("application/json; charset=utf-8", 200),
            ("Application/JSON", 200),
            ("application/json; charset=latin-1", 415),
            ("application/jsonx", 415),
            ("", 415),
        ]:
            request = Request(era)
            request.headers["content-type"] = declared
            assert (await request.send(bench)).status == status, declared
        request = Request(era)
        request.headers["content-encoding"] = "gzip"
        assert (await request.send(bench)).status == 415


@proves("ladder.size")
@pytest.mark.parametrize("era", ERAS)
async def test_a_body_that_is_too_large_is_refused_declared_or_streamed(era: str):
    async with open_bench() as bench:
        declared = await bench.client.ask("POST", "/mcp", headers(era, "ping", content_length=str(LIMIT + 1)), b"{}")
        assert declared.status == 413
        streamed = await bench.client.ask("POST", "/mcp", headers(era, "ping"), *[b" " * LIMIT] * 2)
        assert streamed.status == 413
        absurd = await bench.client.ask("POST", "/mcp", headers(era, "ping", content_length="9" * 5000), b"{}")
        assert absurd.status == 413
        whole = body("tools/list", era=era)
        fits = await bench.client.ask("POST", "/mcp", headers(era, "tools/list"), b" " * (LIMIT - len(whole)), whole)
        assert fits.status == 200


@proves("ladder.json")
@pytest.mark.parametrize("era", ERAS)
async def test_what_is_not_json_is_answered_to_nobody(era: str):
    async with open_bench() as bench:
        for sent in (b"", b"{", b"\xff", b'{"id":1,"x":NaN}', "\ufeff{}".encode(), b"[" * 100_000):
            request = Request(era)
            request.raw = sent
            answer = await request.send(bench)
            assert answer.status == 400
            message = await answer.json()
            assert (message["id"], message["error"]["code"]) == (None, -32700)


@proves("ladder.one-message")
@pytest.mark.parametrize("era", ERAS)
async def test_what_is_no_message_is_refused_under_its_id_if_it_has_one(era: str):
    async with open_bench() as bench:
        for sent, id_ in [
            (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', None),
            (b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}', None),
            (b'{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', None),
            (b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}', None),
            (b'{"jsonrpc":"2.0","id":"a"}', "a"),
            (b'{"jsonrpc":"1.0","id":7,"method":"tools/list"}', 7),
            (b'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[]}', 7),
            (b'"text"', None),
        ]:
            request = Request(era)
            request.raw = sent
            answer = await request.send(bench)
            assert answer.status == 400
            message = await answer.json()
            assert (message["id"], message["error"]["code"]) == (id_, -32600)


@proves("ladder.posted-response")
@pytest.mark.parametrize(("era", "status"), [(OLD, 202), (NEW, 400)])
async def test_a_posted_response_is_taken_where_servers_may_ask(era: str, status: int):
    async with open_bench() as bench:
        request = Request(era)
        request.raw = b'{"jsonrpc":"2.0","id":1,"result":{}}'
        answer = await request.send(bench)
        assert answer.status == status
        assert (await answer.body() == b"") == (era == OLD)


@proves("ladder.notification")
@pytest.mark.parametrize("era", ERAS)
async def test_a_notification_is_taken_without_a_word(era: str):
    async with open_bench() as bench:
        for name in ("notifications/initialized", "notifications/roots/list_changed", "notifications/nonsense"):
            sent = body(name, id_=None, era=era)
            answer = await bench.client.ask("POST", "/mcp", headers(era, name), sent)
            assert (answer.status, await answer.body()) == (202, b"")
            assert "content-type" not in answer.headers


@proves("ladder.header-twice")
async def test_a_routing_header_that_stands_twice_is_told_before_the_body_is_looked_at():
    async with open_bench() as bench:
        for name, values in [
            ("mcp-method", ["tools/list", "ping"]),
            ("mcp-protocol-version", [NEW, NEW]),
            ("mcp-protocol-version", [NEW, OLD]),
        ]:
            request = Request(NEW)
            request.headers[name] = values
            request.message["params"] = {}
            answer = await request.send(bench)
            message = await answer.json()
            assert (answer.status, message["id"], message["error"]["code"]) == (400, 1, -32020)
            assert name in message["error"]["message"]


@proves("ladder.meta", HTTP_2026)
@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({}, f"params._meta.{VERSION}"),
        ({CAPABILITIES: {}}, f"params._meta.{VERSION}"),
        ({VERSION: NEW}, f"params._meta.{CAPABILITIES}"),
        ({VERSION: 1, CAPABILITIES: {}}, f"params._meta.{VERSION}"),
        ({VERSION: NEW, CAPABILITIES: []}, f"params._meta.{CAPABILITIES}"),
    ],
)
async def test_a_request_without_its_envelope_is_told_what_is_missing(members: Any, param: str):
    async with open_bench() as bench:
        request = Request(NEW)
        request.message["params"]["_meta"] = members
        answer = await request.send(bench)
        message = await answer.json()
        assert (answer.status, message["id"], message["error"]["code"]) == (400, 1, -32602)
        assert message["error"]["data"]["param"] == param


@proves("ladder.meta", HTTP_2026)
async def test_nobody_needs_to_say_which_client_it_is():
    async with open_bench() as bench:
        assert (await Request(NEW).send(bench)).status == 200


@proves("ladder.headers-match")
@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({}, 200),
        ({"mcp-name": "=?base64?ZWNobw==?="}, 200),
        ({"mcp-name": " echo\t"}, 200),
        ({"mcp-name": "Echo"}, 400),
        ({"mcp-name": ""}, 400),
        ({"mcp-name": "=?base64?ZWNobw?="}, 400),
        ({"mcp-name": "=?base64?ZWNob===?="}, 400),
        ({"mcp-name": ["echo", "echo"]}, 400),
        ({"mcp-method": ""}, 400),
        ({"mcp-method": "TOOLS/CALL"}, 400),
        ({"mcp-protocol-version": "v999.0.0"}, 400),
    ],
)
async def test_headers_and_body_say_the_same(changed: dict[str, Any], status: int):
    async with open_bench() as bench:
        sent = body("tools/call", {"name": "echo", "arguments": {"text": "hi"}}, 7, NEW)
        answer = await bench.client.ask("POST", "/mcp", {**headers(NEW, "tools/call", "echo"), **changed}, sent)
        message = await answer.json()
        assert (answer.status, message["id"]) == (status, 7)
        if status == 400:
            assert message["error"]["code"] == -32020


@proves("ladder.version", HTTP_2026)
async def test_a_version_that_is_not_ours_is_answered_with_the_ones_that_are():
    async with open_bench() as bench:
        request = Request(NEW)
        request.headers["mcp-protocol-version"] = "v999.0.0"
        request.message["params"]["_meta"][VERSION] = "v999.0.0"
        answer = await request.send(bench)
        error = (await answer.json())["error"]
        assert (answer.status, error["code"]) == (400, -32022)
        discovered = await (await bench.peer(NEW).ask("server/discover")).json()
        assert error["data"]["supported"] == discovered["result"]["supportedVersions"]
        assert error["data"]["requested"] == "v999.0.0"


@proves("ladder.wrong-wire")
@pytest.mark.parametrize("version", [OLD, "2025-03-26", ""])
async def test_a_body_of_the_newer_wire_under_an_older_header_is_told_both(version: str):
    async with open_bench() as bench:
        answer = await bench.client.ask(
            "POST", "/mcp", headers(OLD, mcp_protocol_version=version), body("tools/list", era=NEW)
        )
        error = (await answer.json())["error"]
        assert (answer.status, error["code"]) == (400, -32020)
        assert NEW in error["message"]
        assert (version or "None") in error["message"]


@proves("ladder.method-unknown", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize(
    ("era", "status", "unknown"),
    [
        (OLD, 200, ["server/discover", "resources/list", "prompts/get", "completion/complete", "nonsense", "", "PING"]),
        (NEW, 404, ["initialize", "ping", "logging/setLevel", "resources/subscribe", "tools", "prompts/list"]),
    ],
)  # fmt: skip
async def test_a_method_that_does_not_exist_is_told_so(era: str, status: int, unknown: list[str]):
    async with open_bench() as bench:
        for name in unknown:
            answer = await bench.peer(era).ask(name, {"uri": "file:///x", "protocolVersion": OLD}, id_="m")
            message = await answer.json()
            assert (answer.status, message["id"]) == (status, "m")
            assert (message["error"]["code"], message["error"]["data"]["code"]) == (-32601, "method_not_found")


@proves("ids.exact", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_an_id_comes_back_byte_for_byte(era: str):
    async with open_bench() as bench:
        for id_ in (b"0", b"-1", b'""', b'"1"', b'"\\u00e9\\/"', '"é"'.encode(), b"123456789012345678901234567890"):
            for name in ("tools/list", "nonsense"):
                sent = body(name, id_="ID", era=era).replace(b'"ID"', id_)
                answer = await bench.client.ask("POST", "/mcp", headers(era, name), sent)
                assert b'"id":%b,' % id_ in await answer.body()


@proves("ladder.path")
@pytest.mark.parametrize("era", ERAS)
async def test_there_is_one_endpoint_with_or_without_a_slash(era: str):
    async with open_bench() as bench:
        for path, status in [("/mcp", 200), ("/mcp/", 200), ("/", 404), ("/elsewhere", 404), ("/mcp/more", 404)]:
            sent = headers(era, "tools/list")
            assert (await bench.client.ask("POST", path, sent, body("tools/list", era=era))).status == status
