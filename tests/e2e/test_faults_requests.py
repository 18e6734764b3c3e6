"""Bad requests to a real process: each gets one answer, the right one, without a traceback or a secret (gateway.md §6).

The rows of the error table that a request alone can produce, on both revisions; what only an agent, a client that
leaves or a disk can produce is in the other test_faults modules.
"""

import json
from collections.abc import Generator
from typing import Any

import pytest

from tests.e2e.faults import JSON, LEGACY, MODERN, MODERN_META, Answer, Faulty, ask, faulty_agent, open_files, request
from tests.e2e.running import Host, eventually

pytestmark = pytest.mark.e2e

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
LIST = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Generator[Faulty]:
    with faulty_agent(tmp_path_factory.mktemp("requests")) as faulty:
        before = open_files(faulty.host.ready.pid)
        yield faulty
        # Whatever was sent, the process is as it was: it answers, leaves no connection behind, and has logged no crash.
        assert faulty.text("echo", {"text": "still here"}) == "still here"
        assert open_files(faulty.host.ready.pid) <= before + 10
        log = faulty.host.errors.read_text()
        assert "Traceback" not in log
        assert faulty.host.ready.owner_key not in log


def post(faulty: Faulty, body: bytes, *headers: tuple[str, str], version: str = LEGACY, path: str = "") -> Answer:
    """What comes back for a body that is posted with the owner's key, and with `headers` instead of or besides ours."""
    ours = {"Authorization": faulty.key["authorization"], JSON[0]: JSON[1], "MCP-Protocol-Version": version}
    for name, _ in headers:
        ours.pop(name, None)
    return ask(faulty.host, request("POST", path or f"/{faulty.agent_id}/mcp", body, *ours.items(), *headers))


def is_refused(answer: Answer, status: int, rpc_code: int, code: str, id_: Any = None) -> None:
    """Demand one JSON-RPC error, as the table has it."""
    body = json.loads(answer.body)
    error = body["error"]
    assert (answer.status, error["code"], error["data"]["code"], body["id"]) == (status, rpc_code, code, id_)
    assert set(body) == {"jsonrpc", "id", "error"}
    assert error["data"]["request_id"].startswith("req_")
    assert len(answer.body) < 3000


@pytest.mark.parametrize("version", [LEGACY, MODERN])
@pytest.mark.parametrize(
    "body",
    [b"", b"hello", b'{"jsonrpc":"2.0",', b"\xef\xbb\xbf" + PING, PING.decode().encode("utf-16"), b'"\xff"',
     b"[" * 9000, PING + PING, b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
     b'{"jsonrpc":"2.0","id":1,"method":NaN}'],
)  # fmt: skip
def test_what_is_not_json_is_a_parse_error(faulty: Faulty, body: bytes, version: str):
    is_refused(post(faulty, body, version=version), 400, -32700, "parse_error")


@pytest.mark.parametrize("version", [LEGACY, MODERN])
@pytest.mark.parametrize(
    ("body", "id_"),
    [
        (b"[]", None), (b"[" + PING + b"]", None), (b"7", None), (b"null", None), (b"{}", None),
        (b'{"jsonrpc":"1.0","id":5,"method":"ping"}', 5), (b'{"id":"a","method":"ping"}', "a"),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None), (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', None), (b'{"jsonrpc":"2.0","id":5}', 5),
        (b'{"jsonrpc":"2.0","id":5,"method":7}', 5), (b'{"jsonrpc":"2.0","id":5,"method":"ping","params":[1]}', 5),
        (b'{"jsonrpc":"2.0","id":5,"result":{},"error":{}}', None),
    ],
)  # fmt: skip
def test_what_is_no_request_is_an_invalid_request_to_its_id_where_it_has_one(
    faulty: Faulty, body: bytes, id_: Any, version: str
):
    is_refused(post(faulty, body, version=version), 400, -32600, "invalid_request", id_)


@pytest.mark.parametrize("size_mib", [2, 20])
def test_a_body_that_is_too_large_is_refused_also_when_it_comes_in_chunks(faulty: Faulty, size_mib: int):
    """gateway.md 52: 1 MiB; the answer reaches the client although it is still sending."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"y" * size_mib * 1024 * 1024 + b'"}}'
    is_refused(post(faulty, body), 413, -32600, "payload_too_large")

    chunks = (b"10000\r\n" + b" " * 65_536 + b"\r\n") * (size_mib * 16)
    chunked = post(faulty, chunks + b"0\r\n\r\n", ("Transfer-Encoding", "chunked"))
    is_refused(chunked, 413, -32600, "payload_too_large")


@pytest.mark.parametrize(
    ("header", "status", "code"),
    [
        (("Authorization", ""), 401, "unauthorized"),
        (("Authorization", "Bearer oag_" + "0" * 64), 401, "unauthorized"),
        (("Authorization", "Basic b2FnOg=="), 401, "unauthorized"),
        (("X-Agent-API-Key", "bak_" + "0" * 64), 401, "unauthorized"),
        (("Origin", "http://evil.example"), 403, "origin_not_allowed"),
        (("Origin", "null"), 403, "origin_not_allowed"),
        (("Accept", "text/html"), 406, "not_acceptable"),
        (("Content-Type", "text/plain"), 415, "unsupported_media_type"),
        (("Content-Type", "application/json; charset=latin1"), 415, "unsupported_media_type"),
        (("Content-Encoding", "gzip"), 415, "unsupported_media_type"),
        (("Host", "evil.example"), 421, "host_not_allowed"),
        (("Host", "evil@127.0.0.1"), 421, "host_not_allowed"),
        (("Host", ""), 421, "host_not_allowed"),
    ],
)
@pytest.mark.parametrize("version", [LEGACY, MODERN])
def test_who_asks_and_how_is_checked_before_what(
    faulty: Faulty, header: tuple[str, str], status: int, code: str, version: str
):
    """gateway.md §6, order: none of these looks at the body, which is no JSON here."""
    is_refused(post(faulty, b"{", header, version=version), status, -32600, code)


@pytest.mark.parametrize(
    "headers",
    [
        [("Authorization", "Bearer oag_1"), ("Authorization", "Bearer oag_2")],
        [("Host", "127.0.0.1"), ("Host", "evil.example")],
        [("Content-Type", "application/json"), ("Content-Type", "text/plain")],
    ],
)
def test_a_header_that_was_sent_twice_with_two_values_lets_nobody_in(faulty: Faulty, headers: list[tuple[str, str]]):
    answer = post(faulty, LIST, *headers)
    assert answer.status in (401, 415, 421)
    assert "result" not in json.loads(answer.body)


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "TRACE"])
def test_another_method_is_not_allowed(faulty: Faulty, method: str):
    answer = ask(faulty.host, request(method, f"/{faulty.agent_id}/mcp", b""))
    is_refused(answer, 405, -32600, "method_not_allowed")


def test_head_and_options_are_answered_without_a_body(faulty: Faulty):
    for method, status in (("HEAD", 405), ("OPTIONS", 204)):
        answer = ask(faulty.host, request(method, f"/{faulty.agent_id}/mcp", b""))
        assert (answer.status, answer.body) == (status, b"")


@pytest.mark.parametrize(
    "path",
    ["/agent_nobody/mcp", "/{id}%00/mcp", "/%ff/mcp", "/agents/agent_nobody/mcp", "/" + "a" * 20_000 + "/mcp",
     "/{id}%0d%0aX-Evil:1/mcp"],
)  # fmt: skip
def test_an_agent_that_is_not_there_is_a_404_with_a_json_rpc_body(faulty: Faulty, path: str):
    is_refused(post(faulty, LIST, path=path.replace("{id}", faulty.agent_id)), 404, -32600, "agent_not_found")


@pytest.mark.parametrize(
    "path", ["//{id}/mcp", "/{id}//mcp", "/{id}/mcp/", "/x/../{id}/mcp", "/./{id}/mcp", "/mcp", "/{id}/MCP"]
)
def test_other_spellings_of_a_path_lead_nowhere(faulty: Faulty, path: str):
    answer = post(faulty, LIST, path=path.replace("{id}", faulty.agent_id))
    assert (answer.status, answer.error["code"]) == (404, "route_not_found")


def test_the_page_at_the_root_takes_no_posts(faulty: Faulty):
    answer = post(faulty, LIST, path="/")
    assert answer.status == 405


def test_a_percent_encoded_agent_id_and_a_query_are_fine_and_a_key_in_the_query_is_none(faulty: Faulty):
    encoded = "".join(f"%{ord(letter):02x}" for letter in faulty.agent_id)
    assert post(faulty, LIST, path=f"/{encoded}/mcp?x=%ff").status == 200
    key = faulty.host.ready.owner_key
    answer = post(faulty, LIST, ("Authorization", ""), path=f"/{faulty.agent_id}/mcp?api_key={key}&access_token={key}")
    is_refused(answer, 401, -32600, "unauthorized")


@pytest.mark.parametrize(
    "garbage",
    [b"GARBAGE\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc" + bytes(64), b"POST / HTTP/9.9\r\n\r\n",
     b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
     b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
)  # fmt: skip
def test_what_is_no_http_is_a_400_and_the_end_of_the_connection(faulty: Faulty, garbage: bytes):
    assert ask(faulty.host, garbage + PING).status == 400


def test_requests_in_one_go_get_their_answers_in_order_and_http_1_0_is_spoken(faulty: Faulty):
    bodies = [b'{"jsonrpc":"2.0","id":%d,"method":"ping"}' % number for number in range(3)]
    headers = (("Authorization", faulty.key["authorization"]), JSON)
    requests = [request("POST", f"/{faulty.agent_id}/mcp", body, *headers) for body in bodies]
    kept = [one.replace(b"Connection: close\r\n", b"") for one in requests[:-1]]
    answers = ask(faulty.host, b"".join([*kept, requests[-1]])).body

    places = [answers.index(b'"id":%d,"result":{}' % number) for number in range(3)]
    assert places == sorted(places)
    old = request("POST", f"/{faulty.agent_id}/mcp", PING, *headers, version="HTTP/1.0")
    assert json.loads(ask(faulty.host, old).body)["result"] == {}


def modern_body(method: str, **params: Any) -> bytes:
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in MODERN_META.items()}
    params["_meta"] = {**meta, **params.get("_meta", {})}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def legacy_body(method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


@pytest.mark.parametrize(
    ("method", "params", "rpc_code", "code", "statuses"),
    [
        ("no/such", {}, -32601, "method_not_found", (200, 404)),
        ("tools/call", {"name": "nope"}, -32601, "tool_not_found", (200, 200)),
        ("tools/call", {"name": "echo"}, -32602, "invalid_param", (200, 400)),
        ("tools/call", {"name": "echo", "arguments": {"text": 5}}, -32602, "invalid_param", (200, 400)),
        ("tools/call", {"name": "echo", "arguments": ["x"]}, -32602, "invalid_param", (200, 400)),
        ("tools/call", {"name": "echo", "arguments": {"text": "x", "idempotency_key": ""}}, -32602, "invalid_param",
         (200, 400)),
        ("tools/call", {"name": "echo", "arguments": {"text": "x", "attachments": [{"file_id": "f"}]}}, -32602,
         "invalid_param", (200, 400)),
        ("tools/call", {"name": "echo", "arguments": {"text": "x"}, "_meta": {"toolwire/timeout_ms": 0}}, -32602,
         "invalid_param", (200, 400)),
        ("tools/call", {"name": "echo", "arguments": {"text": "x"}, "_meta": {"toolwire/context_id": "ch_no"}}, -32602,
         "invalid_param", (200, 400)),
        ("tools/call", {"name": "echo", "arguments": {"text": "x"}, "_meta": {"progressToken": {}}}, -32602,
         "invalid_param", (200, 400)),
        ("tools/list", {"cursor": "x"}, -32602, "invalid_param", (200, 400)),
    ],
)  # fmt: skip
def test_a_wrong_method_tool_or_parameter_has_its_code_on_both_revisions(
    faulty: Faulty, method: str, params: Any, rpc_code: int, code: str, statuses: tuple[int, int]
):
    """gateway.md X8-X10, D16: the statuses are those up to 2025-11-25 and on 2026-07-28."""
    is_refused(post(faulty, legacy_body(method, **params)), statuses[0], rpc_code, code, 1)
    routing = [("Mcp-Method", method), *([("Mcp-Name", params["name"])] if "name" in params else [])]
    is_refused(post(faulty, modern_body(method, **params), *routing, version=MODERN), statuses[1], rpc_code, code, 1)


@pytest.mark.parametrize("depth", [130, 500, 900, 960, 990])
@pytest.mark.parametrize("more", [{}, {"idempotency_key": "deep"}])
def test_arguments_that_are_nested_too_deeply_are_a_parse_error(faulty: Faulty, depth: int, more: dict[str, str]):
    arguments = {"text": "x", "deep": "DEEP", **more}
    body = legacy_body("tools/call", name="echo", arguments=arguments).replace(b'"DEEP"', b"[" * depth + b"]" * depth)
    is_refused(post(faulty, body), 400, -32700, "parse_error")


def test_a_key_for_something_else_is_reused_and_two_keys_are_none(faulty: Faulty):
    """gateway.md D3, D8; on both revisions."""
    assert faulty.text("echo", {"text": "one", "idempotency_key": "key"}) == "one"
    wrong = {"name": "echo", "arguments": {"text": "two", "idempotency_key": "key"}}
    is_refused(post(faulty, legacy_body("tools/call", **wrong)), 200, -32602, "idempotency_key_reused", 1)
    routing = [("Mcp-Method", "tools/call"), ("Mcp-Name", "echo")]
    modern = post(faulty, modern_body("tools/call", **wrong), *routing, version=MODERN)
    is_refused(modern, 400, -32602, "idempotency_key_reused", 1)
    two = post(faulty, legacy_body("tools/call", **wrong), ("Idempotency-Key", "other"))
    is_refused(two, 200, -32602, "invalid_param", 1)


@pytest.mark.parametrize("session", ["x", "a" * 5000, "é", "AaItLV3Yi3M4ygj6aWpPrnl35t0cS2tSmNyRoLaWY94", "a, b"])
def test_a_session_that_is_none_is_a_404(faulty: Faulty, session: str):
    is_refused(post(faulty, LIST, ("Mcp-Session-Id", session)), 404, -32600, "session_not_found", 1)


def test_a_key_of_another_kind_or_agent_does_not_open_the_endpoint(faulty: Faulty):
    """gateway.md D22: 403 where the agent may be seen, and 404 for who may not know that there is one."""
    ready = faulty.host.ready
    for key in (ready.agent_key, ready.bak):
        is_refused(post(faulty, LIST, ("Authorization", f"Bearer {key}")), 403, -32600, "forbidden")
    other = faulty.host.toolwire("owner", "create", "Grace", "--json").json()["owner_key"]
    is_refused(post(faulty, LIST, ("Authorization", f"Bearer {other}")), 404, -32600, "agent_not_found")


async def test_the_process_is_as_before_after_a_thousand_bad_requests(faulty: Faulty):
    host: Host = faulty.host
    before = open_files(host.ready.pid)
    bad = request("POST", f"/{faulty.agent_id}/mcp", b"{", ("Authorization", "Bearer x"), JSON)
    for _ in range(1000):
        assert ask(host, bad).status == 401

    await eventually(lambda: open_files(host.ready.pid) <= before)
