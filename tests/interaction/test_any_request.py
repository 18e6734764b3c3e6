"""Whatever is sent, there is one answer, in JSON-RPC where it is refused, and nothing of the inside in it."""

import json
import logging
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.interaction.bench import BOTH, NEW, OLD, SECRET, Gate, body, headers, open_bench
from tests.interaction.cells import SECRET as NOTES_SECRET
from tests.interaction.cells import notes
from tests.interaction.requirements import HTTP_2025, HTTP_2026, proves
from tests.interaction.transport import connect
from toolwire.core.jsontypes import as_object

JUNK = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=12)
HEADERS = {
    "host": ["localhost", "127.0.0.1:1", "evil.example.com", "[::1", "localhost:x", "", "*"],
    "origin": ["http://localhost", "null", "http://evil.example.com", "", "http://", "file://x"],
    "accept": [BOTH, "*/*", "text/event-stream", "", ",;,q=", "application/json;q=0", "text/event-stream;q=x"],
    "content-type": ["application/json", "application/json;charset=utf8", "", ";", "text/plain"],
    "content-length": ["0", "99999999999999999999", "-1", "x", ""],
    "content-encoding": ["", "identity", "gzip"],
    "mcp-protocol-version": [OLD, NEW, "2024-11-05", "", "x", f"{OLD}, {OLD}"],
    "mcp-method": ["tools/call", "tools/list", "", "=?base64?dG9vbHMvbGlzdA==?="],
    "mcp-name": ["echo", "", "=?base64?ZWNobw==?=", "=?base64?\xff?=", "crash"],
    "mcp-session-id": ["", "x", "é", "A" * 43],
    "idempotency-key": ["", "k", "é", "x" * 300],
    "authorization": ["", "Bearer x"],
}
CHANGE = st.one_of([st.tuples(st.just(name), st.sampled_from(values) | JUNK) for name, values in HEADERS.items()])
CHANGES = st.lists(CHANGE, max_size=2).map(dict[str, str])
EMPTY: st.SearchStrategy[Any] = st.just({})
VALUE: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | JUNK | st.sampled_from(["echo", "crash"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(JUNK, inner, max_size=3),
    max_leaves=6,
)
METHODS = ["initialize", "ping", "tools/list", "tools/call", "server/discover", "notifications/cancelled", "x", ""]
META = st.fixed_dictionaries(
    {
        "io.modelcontextprotocol/protocolVersion": st.sampled_from([NEW, NEW, OLD, "x"]),
        "io.modelcontextprotocol/clientCapabilities": EMPTY,
    },
    optional={"progressToken": VALUE, "toolwire/timeout_ms": VALUE, "toolwire/idempotency_key": VALUE},
)
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["echo", "add", "steps", "fail", "crash"]) | VALUE,
        "arguments": st.sampled_from([{"text": "hi"}, {"a": 1}]) | VALUE,
        "protocolVersion": st.sampled_from([OLD, "x"]) | VALUE,
        "requestId": VALUE,
        "cursor": VALUE,
        "_meta": META,
    },
)
MESSAGE = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": st.sampled_from(METHODS), "id": st.integers() | JUNK, "params": PARAMS}
)
MALFORMED = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")},
    optional={"method": st.sampled_from(METHODS), "id": VALUE, "params": VALUE, "result": VALUE, "error": VALUE},
)


def spoilt(at: int, junk: bytes) -> bytes:
    good = body("tools/list", era=NEW)
    return good[:at] + junk + good[at:]


SENT: st.SearchStrategy[Any] = (
    MESSAGE
    | MESSAGE
    | MESSAGE
    | MALFORMED
    | VALUE
    | st.binary(max_size=60)
    | st.builds(spoilt, st.integers(0, 100), st.binary(max_size=4))
)
VERB = st.sampled_from(["POST"] * 20 + ["GET", "DELETE", "OPTIONS", "BREW"])


def routed_by(sent: Any) -> tuple[str, str | None]:
    """The method and the name that a well-meant client puts into its headers."""
    message = as_object(sent) or {}
    name = (as_object(message.get("params")) or {}).get("name")
    return message.get("method", "tools/list"), name if isinstance(name, str) and name.isascii() else None


class Mistakes(logging.Handler):
    """Collects what the server logs as its own mistakes."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.startswith(("toolwire.surfaces", "toolwire.engine")):
            self.found.append(record.getMessage())


@proves("answers.one", HTTP_2025, HTTP_2026)
@proves("errors.body")
@proves("errors.no-internals", HTTP_2025, HTTP_2026)
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=300)
@given(verb=VERB, era=st.sampled_from([OLD, NEW]), changes=CHANGES, sent=SENT)
async def test_any_request_has_one_answer_that_tells_nothing_of_the_inside(
    verb: str, era: str, changes: dict[str, str], sent: Any
):
    method, name = routed_by(sent)
    data = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    mistakes = Mistakes()
    logging.getLogger().addHandler(mistakes)
    try:
        async with open_bench() as bench:
            answer = await bench.client.ask(verb, "/mcp", {**headers(era, method, name), **changes}, data)
            said = await answer.body()
            assert answer.status in (200, 202, 204, 400, 403, 404, 405, 406, 413, 415, 421)
            if answer.status >= 400:
                error = json.loads(said)["error"]
                assert error["code"] in (-32700, -32600, -32601, -32602, -32020, -32022)
                assert error["data"]["code"]
            for inside in (SECRET.encode(), b"Traceback", b'.py"', b"0x7f"):
                assert inside not in said
    finally:
        logging.getLogger().removeHandler(mistakes)
    assert mistakes.found == []


@pytest.mark.parametrize("depth", [100, 400, 700, 900, 940, 960, 970, 975, 980, 985, 990, 995, 1000, 1100, 10_000])
@proves("ladder.json")
async def test_nesting_of_any_depth_is_answered_and_ends_nobody(depth: int):
    async with open_bench() as bench:
        for era in (OLD, NEW):
            name = "add" if depth % 2 else "echo"
            deep = body("tools/call", {"name": name, "arguments": {"a": "DEEP"}}, 1, era)
            deep = deep.replace(b'"DEEP"', b"[" * depth + b"]" * depth)
            answer = await bench.client.ask("POST", "/mcp", headers(era, "tools/call", name), deep)
            message = await answer.json()
            assert message.get("result", {}).get("isError") or message["error"]["code"] in (-32700, -32603)
            assert "result" in await bench.peer(era).call("echo", {"text": "still here"})


REFERENCE = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["ref/prompt", "ref/resource"]) | VALUE,
        "name": st.sampled_from(["summary", "crash"]) | VALUE,
        "uri": st.sampled_from(["notes://{number}", "notes://all"]) | VALUE,
    },
)
READING = st.fixed_dictionaries(
    {},
    optional={
        "uri": st.sampled_from(["notes://all", "notes://7", "notes://broken", "files://%00", "files://a?size=%ff"])
        | VALUE,
        "name": st.sampled_from(["summary", "review", "crash", "topic"]) | VALUE,
        "arguments": st.sampled_from([{"topic": "mice"}, {"uri": "notes://7"}, {"topic": "x", "count": "7"}]) | VALUE,
        "ref": REFERENCE | VALUE,
        "argument": st.fixed_dictionaries({"name": st.sampled_from(["topic", "number"]) | VALUE, "value": VALUE})
        | VALUE,
        "context": VALUE,
        "level": st.sampled_from(["debug", "loud"]) | VALUE,
        "cursor": VALUE,
        "_meta": META,
    },
)
OFFERED = [
    "resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "prompts/list",
    "prompts/get", "completion/complete", "logging/setLevel",
]  # fmt: skip


@proves("answers.one", HTTP_2025, HTTP_2026)
@proves("errors.no-internals", HTTP_2025, HTTP_2026)
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=300)
@given(era=st.sampled_from([OLD, NEW]), method=st.sampled_from(OFFERED), params=READING)
async def test_any_request_for_what_stands_beside_tools_has_one_answer(era: str, method: str, params: Any):
    name: Any = params.get("uri" if method.startswith("resources") else "name")
    mistakes = Mistakes()
    logging.getLogger().addHandler(mistakes)
    try:
        async with notes(Gate()).open() as served, connect(served.app) as client:
            named = name if isinstance(name, str) and name.isascii() else None
            data = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
            answer = await client.ask("POST", "/mcp", headers(era, method, named), data)
            message = json.loads(await answer.body())
            assert message["id"] == 1 or message["error"]["code"] == -32700  # Infinity is no JSON
            assert ("result" in message) is (answer.status == 200 and "error" not in message)
            if "error" in message:
                assert message["error"]["code"] in (-32700, -32600, -32601, -32602, -32603, -32002, -32020, -32022)
            assert NOTES_SECRET not in json.dumps(message)
    finally:
        logging.getLogger().removeHandler(mistakes)
    assert mistakes.found == []
