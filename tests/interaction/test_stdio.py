"""What the methods answer over two pipes, in both revisions, and what cancelling does there (mcp.md S7, S10)."""

from typing import Any

import pytest

from tests.interaction.bench import BLOCKED_TOGETHER, ERAS, NEW, OLD, SECRET, body
from tests.interaction.requirements import STDIO_2025, STDIO_2026, proves
from tests.interaction.stdio import Lines, open_pipes

STAMP = {"resultType": "complete", "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "bench", "version": "1.0"}}}
HELLO: dict[str, Any] = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
TELLING: dict[str, Any] = {"name": "tell_and_hold", "_meta": {"progressToken": "t"}}


def text(said: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": said}]


@proves("initialize", STDIO_2025)
@proves("ping", STDIO_2025)
async def test_a_client_of_the_older_wire_introduces_itself():
    async with open_pipes() as served:
        await served.lines.ask("ping", id_="early")
        assert await served.lines.message() == {"jsonrpc": "2.0", "id": "early", "result": {}}
        await served.lines.ask("initialize", HELLO)
        assert (await served.lines.message())["result"] == {
            "protocolVersion": OLD,
            "capabilities": {"tools": {}, "logging": {}},
            "serverInfo": {"name": "bench", "version": "1.0"},
        }
        await served.lines.ask("notifications/initialized", id_=None)
        await served.lines.ask("ping", id_="p")
        assert await served.lines.message() == {"jsonrpc": "2.0", "id": "p", "result": {}}


@proves("discover", STDIO_2026)
@proves("identity", STDIO_2026)
async def test_discover_says_versions_and_capabilities():
    async with open_pipes() as served:
        await served.lines.ask("server/discover", era=NEW)
        result = (await served.lines.message())["result"]
        assert result == {
            "supportedVersions": [NEW],
            "capabilities": {"tools": {}, "logging": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}},
            "ttlMs": 0,
            "cacheScope": "private",
            **STAMP,
        }


@proves("tools.list", STDIO_2025, STDIO_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_the_list_is_whole_and_no_cursor_is_ours(era: str):
    async with open_pipes() as served:
        await served.lines.ask("tools/list", era=era)
        result = (await served.lines.message())["result"]
        assert len(result.pop("tools")) == 10
        assert result == ({"ttlMs": 0, "cacheScope": "private", **STAMP} if era == NEW else {})
        await served.lines.ask("tools/list", {"cursor": "page-2"}, era=era)
        assert (await served.lines.message())["error"]["code"] == -32602


@proves("tools.call", STDIO_2025, STDIO_2026)
@proves("identity", STDIO_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_a_call_is_answered_with_content(era: str):
    async with open_pipes() as served:
        message = await served.call(era, "add", {"a": 2}, "id")
        result = {"content": text('{"sum":3}'), "structuredContent": {"sum": 3}}
        assert message == {"jsonrpc": "2.0", "id": "id", "result": {**result, **(STAMP if era == NEW else {})}}


@proves("tools.unknown", STDIO_2025, STDIO_2026)
@proves("tools.bad-arguments", STDIO_2025, STDIO_2026)
@proves("tools.failed", STDIO_2025, STDIO_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_each_kind_of_failure_has_its_plane(era: str):
    async with open_pipes() as served:
        unknown = await served.call(era, "nothing")
        assert (unknown["error"]["code"], unknown["error"]["data"]["code"]) == (-32602, "tool_not_found")
        for name, arguments, word in [("echo", {"text": 7}, "/text"), ("fail", {}, "it does not work")]:
            result = (await served.call(era, name, arguments))["result"]
            assert result["isError"] is True
            assert word in result["content"][0]["text"]


@proves("errors.no-internals", STDIO_2025, STDIO_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_neither_crashes_nor_mistakes_tell_of_the_inside_or_end_the_server(era: str):
    async with open_pipes() as served:
        crashed = await served.call(era, "crash")
        assert SECRET not in str(crashed)
        mistaken = await served.call(era, "surrogate", id_="id")
        assert (mistaken["id"], mistaken["error"]["code"]) == ("id", -32603)
        assert (await served.call(era, "echo", {"text": "still here"}))["result"]["content"] == text("still here")


@proves("ladder.method-unknown", STDIO_2025, STDIO_2026)
@pytest.mark.parametrize(("era", "method"), [(OLD, "resources/list"), (OLD, "PING"), (NEW, "ping"), (NEW, "x")])
async def test_a_method_that_does_not_exist_is_told_so(era: str, method: str):
    async with open_pipes() as served:
        await served.lines.ask(method, id_="m", era=era)
        message = await served.lines.message()
        assert (message["id"], message["error"]["code"]) == ("m", -32601)


@proves("ladder.meta", STDIO_2026)
async def test_on_the_newer_wire_every_request_needs_its_envelope():
    async with open_pipes() as served:
        await served.lines.ask("tools/list", era=NEW)
        await served.lines.message()
        await served.lines.ask("tools/list")
        error = (await served.lines.message())["error"]
        assert (error["code"], error["data"]["param"]) == (-32602, "params._meta")


@proves("ladder.version", STDIO_2026)
async def test_a_version_that_is_not_ours_is_answered_with_the_ones_that_are():
    async with open_pipes() as served:
        await served.lines.send(body("tools/list", era=NEW).replace(NEW.encode(), b"v999.0.0") + b"\n")
        error = (await served.lines.message())["error"]
        assert (error["code"], error["data"]["supported"], error["data"]["requested"]) == (-32022, [NEW], "v999.0.0")


@proves("ids.exact", STDIO_2025, STDIO_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_an_id_comes_back_byte_for_byte(era: str):
    async with open_pipes() as served:
        for id_ in (b"0", b'""', b'"1"', b'"\\u00e9\\/"', '"é"'.encode(), b"123456789012345678901234567890"):
            await served.lines.send(body("tools/list", id_="ID", era=era).replace(b'"ID"', id_) + b"\n")
            assert (await served.lines.line()).startswith(b'{"jsonrpc":"2.0","id":%b,' % id_)


@proves("ids.doubled", STDIO_2025, STDIO_2026)
@proves("answers.one", STDIO_2025, STDIO_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_two_requests_under_one_id_at_once_are_both_answered(era: str):
    async with open_pipes() as served:
        for said in ("one", "two"):
            await served.lines.ask("tools/call", {"name": "hold", "arguments": {"text": said}}, 1, era)
        await served.gate.until(entered=2)
        served.gate.release.set()
        answers = [await served.lines.message() for _ in range(2)]
        assert [answer["id"] for answer in answers] == [1, 1]
        assert sorted(answer["result"]["content"][0]["text"] for answer in answers) == ["one", "two"]
        served.lines.end()
        assert await served.lines.messages() == []


@proves("progress.told", STDIO_2025, STDIO_2026)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("token", ["token", 7])
async def test_progress_goes_before_the_result_with_the_token_as_it_came(era: str, token: Any):
    async with open_pipes() as served:
        await served.lines.ask("tools/call", {**TELLING, "_meta": {"progressToken": token}}, era=era)
        begun = await served.lines.message()
        assert begun["params"] == {"progressToken": token, "progress": 1, "total": 2, "message": "begun"}
        assert served.gate.finished == 0
        served.gate.release.set()
        assert (await served.lines.message())["params"]["progress"] == 2
        assert (await served.lines.message())["result"]["content"] == text("done")


@proves("progress.asked", STDIO_2025, STDIO_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_without_a_token_there_is_no_progress(era: str):
    async with open_pipes() as served:
        assert (await served.call(era, "steps"))["result"]["content"] == text("done")


@proves("tools.links", STDIO_2025)
@pytest.mark.parametrize(("version", "kind"), [("2025-03-26", "resource"), ("2025-06-18", "resource_link")])
async def test_a_client_gets_the_links_that_its_version_knows(version: str, kind: str):
    async with open_pipes() as served:
        await served.lines.ask("initialize", {**HELLO, "protocolVersion": version})
        await served.lines.message()
        assert (await served.call(OLD, "link"))["result"]["content"][0]["type"] == kind


@proves("tools.blocking", STDIO_2025, STDIO_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_blocking_tools_overlap_and_the_rest_stays_answerable(era: str):
    async with open_pipes() as served:
        for number in range(BLOCKED_TOGETHER - 1):
            await served.lines.ask("tools/call", {"name": "block"}, number, era)
        await served.lines.ask("tools/list", id_="list", era=era)
        assert (await served.lines.message())["id"] == "list"
        await served.lines.ask("tools/call", {"name": "block"}, BLOCKED_TOGETHER, era)
        for _ in range(BLOCKED_TOGETHER):
            assert (await served.lines.message())["result"]["content"] == text("together")


async def cancel(lines: Lines, id_: Any) -> None:
    await lines.ask("notifications/cancelled", {"requestId": id_, "reason": "enough"}, id_=None)


@proves("tools.deadline", STDIO_2025, STDIO_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_a_call_ends_at_the_deadline_that_its_caller_gives(era: str):
    async with open_pipes() as served:
        await served.lines.ask("tools/call", {"name": "hold", "_meta": {"toolwire/timeout_ms": 20}}, era=era)
        result = (await served.lines.message())["result"]
        assert (result["isError"], result["content"]) == (True, text("Agent reply timeout"))
        assert served.gate.cancelled == 1


@proves("cancel.silence", STDIO_2025, STDIO_2026)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("id_", [7, "é"])
async def test_a_cancelled_call_stops_and_nothing_more_is_said_of_it(era: str, id_: Any):
    async with open_pipes() as served:
        await served.lines.ask("tools/call", {"name": "hold"}, id_, era)
        await served.gate.until(entered=1)
        await cancel(served.lines, id_)
        await served.gate.until(cancelled=1)
        served.lines.end()
        assert await served.lines.messages() == []


@proves("cancel.silence", STDIO_2025, STDIO_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_a_call_that_is_cancelled_before_it_begins_does_not_begin(era: str):
    async with open_pipes() as served:
        both = body("tools/call", {"name": "hold"}, 7, era), body("notifications/cancelled", {"requestId": 7}, None)
        await served.lines.send(b"\n".join(both) + b"\n")
        served.lines.end()
        assert await served.lines.messages() == []
        assert served.gate.entered == 0


@proves("cancel.silence", STDIO_2025, STDIO_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_a_call_under_a_key_goes_on_when_its_request_is_cancelled(era: str):
    async with open_pipes() as served:
        keyed = {"name": "hold", "_meta": {"toolwire/idempotency_key": "order-7"}}
        await served.lines.ask("tools/call", keyed, 7, era)
        await served.gate.until(entered=1)
        await cancel(served.lines, 7)
        await served.lines.ask("tools/call", keyed, 8, era)
        await served.lines.ask("tools/list", id_="list", era=era)
        assert (await served.lines.message())["id"] == "list"
        served.gate.release.set()
        answer = await served.lines.message()
        assert (answer["id"], answer["result"]["content"]) == (8, text("held"))
        assert (served.gate.entered, served.gate.cancelled) == (1, 0)


@proves("cancel.own", STDIO_2025, STDIO_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_an_id_that_names_none_or_two_cancels_nothing(era: str):
    async with open_pipes() as served:
        for id_ in ("doubled", "doubled", 7):
            await served.lines.ask("tools/call", {"name": "hold"}, id_, era)
        await served.gate.until(entered=3)
        for id_ in ("doubled", "7", 8, None, [7]):
            await cancel(served.lines, id_)
        await served.lines.ask("tools/list", id_="list", era=era)
        assert (await served.lines.message())["id"] == "list"
        assert served.gate.cancelled == 0
        served.gate.release.set()
        answered = [str((await served.lines.message())["id"]) for _ in range(3)]
        assert sorted(answered) == ["7", "doubled", "doubled"]


@proves("stop.answered", STDIO_2025, STDIO_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_who_still_waits_when_the_server_stops_is_told(era: str):
    async with open_pipes() as served:
        await served.lines.ask("tools/call", {"name": "hold"}, 1, era)
        keyed = {"name": "hold", "arguments": {"text": "k"}, "_meta": {"toolwire/idempotency_key": "order-7"}}
        await served.lines.ask("tools/call", keyed, 2, era)
        await served.gate.until(entered=2)
        served.stop.set()
        await served.until_ended()
        answers = {message["id"]: message for message in await served.lines.messages()}
        assert answers[1]["result"]["isError"] is True
        assert answers[2]["error"]["data"]["code"] == "agent_service_unavailable"
