"""What each method answers, on either wire (mcp.md 1.2); how the bytes travel is told elsewhere."""

from typing import Any

import anyio
import pytest

from tests.interaction.bench import BLOCKED_TOGETHER, ERAS, JSON_ONLY, NEW, OLD, SECRET, open_bench
from tests.interaction.requirements import HTTP_2025, HTTP_2026, proves
from tests.interaction.transport import Answer

STAMP = {"resultType": "complete", "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "bench", "version": "1.0"}}}
NAMES = ["echo", "add", "hold", "steps", "tell_and_hold", "fail", "crash", "link", "surrogate", "block"]


def stamped(era: str, result: dict[str, Any]) -> dict[str, Any]:
    """A result as this wire has it."""
    return {**result, **STAMP} if era == NEW else result


def text(said: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": said}]


@proves("initialize", HTTP_2025)
@pytest.mark.parametrize(
    ("asked", "agreed"),
    [("2024-11-05", "2024-11-05"), ("2025-03-26", "2025-03-26"), (OLD, OLD), (NEW, OLD), ("nonsense", OLD)],
)
@pytest.mark.parametrize("header", ["", OLD, "2024-11-05"])
async def test_initialize_agrees_on_a_version(asked: str, agreed: str, header: str):
    async with open_bench() as bench:
        params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        answer = await bench.peer(OLD).ask("initialize", params, mcp_protocol_version=header)
        assert (await answer.json())["result"] == {
            "protocolVersion": agreed,
            "capabilities": {"tools": {}, "logging": {}},
            "serverInfo": {"name": "bench", "version": "1.0"},
        }
        done = await bench.peer(OLD).ask("notifications/initialized", id_=None)
        assert (done.status, await done.body()) == (202, b"")


@proves("initialize", HTTP_2025)
async def test_initialize_without_a_version_is_told_what_is_missing():
    async with open_bench() as bench:
        answer = await bench.peer(OLD).ask("initialize", {"capabilities": {}})
        error = (await answer.json())["error"]
        assert (answer.status, error["code"], error["data"]["param"]) == (200, -32602, "protocolVersion")


@proves("ping", HTTP_2025)
async def test_ping_is_answered_before_and_after_initialize():
    async with open_bench() as bench:
        for peer in (bench.peer(OLD), await bench.peer(OLD).session()):
            assert await (await peer.ask("ping", id_="p")).json() == {"jsonrpc": "2.0", "id": "p", "result": {}}


@proves("discover", HTTP_2026)
@proves("identity", HTTP_2026)
async def test_discover_says_versions_and_capabilities():
    async with open_bench() as bench:
        assert (await (await bench.peer(NEW).ask("server/discover")).json())["result"] == {
            "supportedVersions": [NEW],
            "capabilities": {"tools": {}, "logging": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}},
            "ttlMs": 0,
            "cacheScope": "private",
            **STAMP,
        }


@proves("tools.list", HTTP_2025, HTTP_2026)
@proves("identity", HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_the_list_is_whole_and_in_the_order_given(era: str):
    async with open_bench() as bench:
        result = (await (await bench.peer(era).ask("tools/list")).json())["result"]
        listed = result.pop("tools")
        assert [tool["name"] for tool in listed] == NAMES
        assert listed[0] == {
            "name": "echo",
            "description": "Say it again.",
            "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        }
        assert result == stamped(era, {"ttlMs": 0, "cacheScope": "private"} if era == NEW else {})


@proves("tools.list", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize(("era", "status"), [(OLD, 200), (NEW, 400)])
async def test_no_cursor_is_ours(era: str, status: int):
    async with open_bench() as bench:
        answer = await bench.peer(era).ask("tools/list", {"cursor": "page-2"})
        assert (answer.status, (await answer.json())["error"]["code"]) == (status, -32602)


@proves("tools.call", HTTP_2025, HTTP_2026)
@proves("identity", HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_a_call_is_answered_with_content(era: str):
    async with open_bench() as bench:
        message = await bench.peer(era).call("echo", {"text": "hé\n\u2028"}, "id")
        result = stamped(era, {"content": text("hé\n\u2028")})
        assert message == {"jsonrpc": "2.0", "id": "id", "result": result}


@proves("tools.call", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_a_call_is_answered_with_structured_content_where_there_is_some(era: str):
    async with open_bench() as bench:
        result = (await bench.peer(era).call("add", {"a": 2}))["result"]
        assert result == stamped(era, {"content": text('{"sum":3}'), "structuredContent": {"sum": 3}})


@proves("tools.call", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_integers_of_any_size_go_through_and_the_server_lives_on(era: str):
    async with open_bench() as bench:
        for peer in [bench.peer(era), *([await bench.peer(OLD).session()] if era == OLD else [])]:
            result = (await peer.call("add", {"a": 10**40}))["result"]
            assert result["structuredContent"] == {"sum": 10**40 + 1}
            await anyio.wait_all_tasks_blocked()
            assert "result" in await peer.call("echo", {"text": "still here"})


@proves("tools.unknown", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize(("era", "status"), [(OLD, 200), (NEW, 400)])
async def test_an_unknown_tool_is_an_error_of_the_protocol(era: str, status: int):
    async with open_bench() as bench:
        for name in ("nothing", "ECHO", ""):
            answer = await bench.peer(era).ask("tools/call", {"name": name})
            error = (await answer.json())["error"]
            assert (answer.status, error["code"], error["data"]["code"]) == (status, -32602, "tool_not_found")


@proves("tools.unknown", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize(("era", "status"), [(OLD, 200), (NEW, 400)])
async def test_a_call_that_is_no_call_is_an_error_of_the_protocol(era: str, status: int):
    async with open_bench() as bench:
        wrong: list[dict[str, Any]] = [{"arguments": []}, {"_meta": {"progressToken": 1.5}}]
        for params in wrong:
            answer = await bench.peer(era).ask("tools/call", {"name": "echo", **params})
            assert (answer.status, (await answer.json())["error"]["code"]) == (status, -32602)


@proves("tools.bad-arguments", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_arguments_that_do_not_fit_are_told_to_the_model(era: str):
    async with open_bench() as bench:
        for arguments, word in [({}, "text"), ({"text": 7}, "/text"), (None, "text"), ({"text": "x", "a": "b"}, "")]:
            result = (await bench.peer(era).call("echo", arguments))["result"]
            if word:
                assert result["isError"] is True
                assert word in result["content"][0]["text"]


@proves("tools.failed", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_a_tool_that_fails_says_why(era: str):
    async with open_bench() as bench:
        result = (await bench.peer(era).call("fail"))["result"]
        assert result == stamped(era, {"content": text("it does not work"), "isError": True})


@proves("errors.no-internals", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_a_tool_that_crashes_tells_nothing_of_the_inside(era: str, caplog: pytest.LogCaptureFixture):
    async with open_bench() as bench:
        answer = await bench.peer(era).ask("tools/call", {"name": "crash"})
        said = (await answer.body()).decode()
        assert SECRET not in said
        assert "Traceback" not in said
        assert ".py" not in said
    assert SECRET in caplog.text


@proves("errors.no-internals", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_a_mistake_of_ours_is_told_under_the_requests_id(era: str, caplog: pytest.LogCaptureFixture):
    async with open_bench() as bench:
        answer = await bench.peer(era).ask("tools/call", {"name": "surrogate"}, "id")
        message = await answer.json()
        assert (answer.status, message["id"], message["error"]["code"]) == (200, "id", -32603)
        assert "surrogates" not in message["error"]["message"]
        assert message["error"]["data"]["request_id"] in caplog.text
        assert "result" in await bench.peer(era).call("echo", {"text": "still here"})


@proves("tools.links", HTTP_2025)
@pytest.mark.parametrize(
    ("version", "kind"),
    [("", "resource"), ("2025-03-26", "resource"), ("2025-06-18", "resource_link"), (OLD, "resource_link")],
)
async def test_a_client_gets_the_links_that_it_knows(version: str, kind: str):
    async with open_bench() as bench:
        [block] = (await bench.peer(OLD, mcp_protocol_version=version).call("link"))["result"]["content"]
        assert block["type"] == kind
        assert (block["resource"] if kind == "resource" else block)["uri"] == "file:///notes.txt"


@proves("tools.blocking", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_blocking_tools_overlap_and_the_rest_stays_answerable(era: str):
    async with open_bench() as bench:
        peer = bench.peer(era)
        answers = [peer.start("tools/call", {"name": "block"}, number) for number in range(BLOCKED_TOGETHER - 1)]
        await anyio.wait_all_tasks_blocked()
        assert "result" in await (await peer.ask("tools/list")).json()
        answers.append(peer.start("tools/call", {"name": "block"}, BLOCKED_TOGETHER))
        for answer in answers:
            await answer.body()
            assert (await answer.message())["result"]["content"] == text("together")


@proves("tools.deadline", HTTP_2025, HTTP_2026)
@pytest.mark.virtual_time
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("asked_ms", "seconds"), [(None, 60), (1500, 1.5), (10**40, 600)])
async def test_a_call_ends_at_its_deadline(era: str, asked_ms: int | None, seconds: float):
    async with open_bench(patience_s=1000) as bench:
        begun = anyio.current_time()
        meta = {"toolwire/timeout_ms": asked_ms} if asked_ms else {}
        answer = bench.peer(era, accept=JSON_ONLY).start("tools/call", {"name": "hold", "_meta": meta})
        result = (await answer_of(answer))["result"]
        assert (result["isError"], result["content"]) == (True, text("Agent reply timeout"))
        assert anyio.current_time() - begun == pytest.approx(seconds, abs=0.2)
        assert bench.gate.cancelled == 1


async def answer_of(answer: Answer) -> Any:
    await answer.started.wait()
    return await answer.json()


@proves("tools.keyed", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_the_same_call_under_the_same_key_runs_once(era: str):
    async with open_bench() as bench:
        peer = bench.peer(era, idempotency_key="order-7")
        bench.gate.release.set()
        first = await peer.ask("tools/call", {"name": "hold"}, 1)
        again = await peer.ask("tools/call", {"name": "hold"}, 2)
        other = await peer.ask("tools/call", {"name": "hold", "arguments": {"text": "other"}}, 3)
        assert "idempotency-replayed" not in first.headers
        assert again.headers["idempotency-replayed"] == "true"
        replayed = (await again.json())["result"]
        assert replayed["content"] == (await first.json())["result"]["content"] == text("held")
        assert replayed["_meta"]["toolwire/idempotency"]["replayed"] is True
        assert (await other.json())["error"]["data"]["code"] == "idempotency_key_reused"
        assert bench.gate.entered == 1


@proves("ids.doubled", HTTP_2025, HTTP_2026)
@proves("answers.one", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("in_session", [False, True])
async def test_two_requests_under_one_id_at_once_are_both_answered(era: str, in_session: bool):
    async with open_bench() as bench:
        peer = await bench.peer(era).session() if in_session and era == OLD else bench.peer(era)
        answers = [peer.start("tools/call", {"name": "hold", "arguments": {"text": t}}, 1) for t in ("one", "two")]
        await bench.gate.until(entered=2)
        assert (await peer.call("echo", {"text": "three"}, 1))["result"]["content"] == text("three")
        bench.gate.release.set()
        for answer, said in zip(answers, ("one", "two"), strict=True):
            await answer.body()
            assert (await answer.message())["result"]["content"] == text(said)
