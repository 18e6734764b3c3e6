"""What clients read, on either wire and every transport (mcp.md 1.2, resources)."""

from typing import Any

import anyio
import pytest

from tests.interaction.bench import NEW, OLD
from tests.interaction.cells import CELLS, EVERY_CELL, SECRET, Talk, talking
from tests.interaction.requirements import ALL, GATEWAY, GATEWAY_2026, HTTP, HTTP_2026, Cell, proves
from toolwire.gateway.about import OWN_RESOURCES
from toolwire.server import Server

HINTS = {"ttlMs": 0, "cacheScope": "private"}
on_every_cell = pytest.mark.parametrize("cell", EVERY_CELL)
WHERE_NAMES_ARE_HEADERS = frozenset({HTTP_2026, GATEWAY_2026})


def hinted(talk: Talk, members: dict[str, Any]) -> dict[str, Any]:
    """What a list holds on this wire."""
    return {**members, **HINTS} if talk.era == NEW else members


@proves("capabilities.offered")
@on_every_cell
async def test_what_is_offered_is_advertised(cell: Cell):
    async with talking(cell) as talk:
        opening = "server/discover" if talk.era == NEW else "initialize"
        result = await talk.result(opening, {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {}})
        assert result["capabilities"] == {
            "tools": {"listChanged": True},
            "resources": {"listChanged": True, "subscribe": True},
            "prompts": {"listChanged": True},
            "completions": {},
            "logging": {},
            **extensions(talk),
        }


def extensions(talk: Talk) -> dict[str, Any]:
    """What every endpoint serves on the newer wire."""
    return {"extensions": {"io.modelcontextprotocol/tasks": {}}} if talk.era == NEW else {}


@proves("capabilities.offered", *ALL)
@pytest.mark.parametrize("cell", CELLS)
async def test_what_is_not_offered_is_neither_advertised_nor_known(cell: Cell):
    """mcp.md S36."""
    async with talking(cell, lambda _: Server("bench")) as talk:
        opening = "server/discover" if talk.era == NEW else "initialize"
        result = await talk.result(opening, {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {}})
        assert result["capabilities"] == {"tools": {"listChanged": True}, "logging": {}, **extensions(talk)}
        for method in (
            "resources/list",
            "resources/templates/list",
            "prompts/list",
            "completion/complete",
            "resources/subscribe",
        ):
            assert (await talk.error(method))["code"] == -32601
        assert (await talk.error("resources/read", {"uri": "notes://all"}))["code"] == -32601
        assert (await talk.error("prompts/get", {"name": "summary"}))["code"] == -32601


@proves("resources.list")
@on_every_cell
async def test_resources_are_listed_in_their_order(cell: Cell):
    async with talking(cell) as talk:
        result = await talk.result("resources/list")
        listed = result["resources"]
        assert [each["uri"].removeprefix("notes://") for each in listed] == [
            "all",
            "picture",
            "held",
            "broken",
            "refused",
            *([each.uri for each in OWN_RESOURCES] if cell in GATEWAY else []),
        ]
        assert listed[0] == {
            "uri": "notes://all",
            "name": "every",
            "title": "All notes",
            "description": "Every note.",
            "mimeType": "text/plain",
            "annotations": {"priority": 1.0},
        }
        assert result == hinted(talk, {"resources": listed})


@proves("resources.templates")
@on_every_cell
async def test_templates_are_listed_apart_from_resources(cell: Cell):
    async with talking(cell) as talk:
        result = await talk.result("resources/templates/list")
        listed = result["resourceTemplates"]
        assert listed[0] == {
            "uriTemplate": "notes://{number}",
            "name": "one",
            "description": "One note.",
        }
        assert [each["uriTemplate"] for each in listed] == ["notes://{number}", "files://{+path}{?part,size}"]
        assert result == hinted(talk, {"resourceTemplates": listed})


@proves("resources.list")
@proves("resources.templates")
@proves("prompts.list")
@on_every_cell
async def test_no_cursor_is_ours(cell: Cell):
    async with talking(cell) as talk:
        for method in ("resources/list", "resources/templates/list", "prompts/list"):
            assert (await talk.error(method, {"cursor": "2"}))["code"] == -32602


@proves("resources.read")
@on_every_cell
@pytest.mark.parametrize(
    ("uri", "contents"),
    [
        ("notes://all", [{"uri": "notes://all", "mimeType": "text/plain", "text": "none yet"}]),
        ("notes://picture", [{"uri": "notes://picture", "mimeType": "image/png", "blob": "iVBORw=="}]),
        ("notes://7", [{"uri": "notes://7", "mimeType": "application/json", "text": '{"number":7}'}]),
        (
            "files://a/b%20c?size=large&part=2&other=1",
            [{"uri": "files://a/b c#2", "text": "large"}, {"uri": "files://a/b c", "blob": "AA=="}],
        ),
        ("files://a", [{"uri": "files://a#1", "text": "small"}, {"uri": "files://a", "blob": "AA=="}]),
    ],
)
async def test_a_resource_is_read_as_text_or_as_bytes(cell: Cell, uri: str, contents: list[Any]):
    async with talking(cell) as talk:
        assert await talk.result("resources/read", {"uri": uri}) == hinted(talk, {"contents": contents})


@proves("resources.unknown")
@on_every_cell
@pytest.mark.parametrize(
    "uri",
    [
        "notes://",
        "notes://100",
        "notes://seven",
        "notes://7/8",
        "files://../etc",
        "files://%2Fetc",
        "files://a?size=huge",
    ],
)
async def test_what_is_not_there_is_an_error_with_the_uri(cell: Cell, uri: str):
    """mcp.md 1.2: −32002 on the older wire, −32602 on the newer, and never an empty list of contents."""
    async with talking(cell) as talk:
        error = await talk.error("resources/read", {"uri": uri})
        assert error["code"] == (-32602 if talk.era == NEW else -32002)
        assert (error["data"]["uri"], error["data"]["code"]) == (uri, "resource_not_found")


@proves("resources.unknown", HTTP_2026)
async def test_what_is_not_there_is_a_400_on_the_newer_wire():
    async with talking(HTTP_2026) as talk:
        assert talk.peer is not None
        answer = await talk.peer.ask("resources/read", {"uri": "notes://none"})
        assert answer.status == 400


@proves("resources.read")
@on_every_cell
async def test_a_uri_that_is_no_text_is_an_error_of_the_protocol(cell: Cell):
    async with talking(cell) as talk:
        if cell not in WHERE_NAMES_ARE_HEADERS:  # there the header cannot agree with it
            assert (await talk.error("resources/read", {}))["code"] == -32602
        assert (await talk.error("resources/read", {"uri": "notes://all", "_meta": {"progressToken": []}}))[
            "code"
        ] == -32602


@proves("resources.failed")
@on_every_cell
async def test_a_resource_that_fails_tells_its_authors_words_and_nothing_of_the_inside(cell: Cell):
    async with talking(cell) as talk:
        refused = await talk.error("resources/read", {"uri": "notes://refused"})
        assert (refused["code"], refused["message"]) == (-32603, "not for you")
        broken = await talk.error("resources/read", {"uri": "notes://broken"})
        assert broken["code"] == -32603
        assert SECRET not in str(broken)
        assert "RuntimeError" in broken["message"]


@proves("direct.told")
@on_every_cell
async def test_who_reads_hears_how_far_it_is(cell: Cell):
    async with talking(cell) as talk:
        talk.gate.release.set()
        params = {"uri": "notes://held", "_meta": {"progressToken": "t"}}
        progress, last = await talk.say("resources/read", params)
        assert progress["params"] == {"progressToken": "t", "progress": 1, "total": 2, "message": "begun"}
        assert last["result"]["contents"][0]["text"] == "let go"


@proves("direct.others")
@on_every_cell
async def test_others_are_answered_meanwhile(cell: Cell):
    async with talking(cell) as talk:
        held = await talk.begin("resources/read", {"uri": "notes://held"}, 1)
        await talk.gate.until(entered=1)
        [other] = await talk.say("resources/list", None, 2)
        assert "result" in other
        talk.gate.release.set()
        assert "result" in (await talk.rest(held, 1))[-1]


@proves("direct.cancelled")
@pytest.mark.parametrize("cell", [cell for cell in EVERY_CELL if cell not in WHERE_NAMES_ARE_HEADERS])
async def test_reading_ends_without_a_word_when_it_is_cancelled(cell: Cell):
    async with talking(cell) as talk:
        answer = await talk.begin("resources/read", {"uri": "notes://held"}, 1)
        await talk.gate.until(entered=1)
        await talk.tell("notifications/cancelled", {"requestId": 1})
        await talk.gate.until(cancelled=1)
        [message] = await talk.say("resources/list", None, 2)
        assert message["id"] == 2
        if answer is not None:
            assert await answer.body() == b""


@proves("direct.cancelled", HTTP_2026, GATEWAY_2026)
@pytest.mark.parametrize("cell", sorted(WHERE_NAMES_ARE_HEADERS, key=EVERY_CELL.index))
async def test_reading_ends_when_the_client_of_the_newer_wire_goes_away(cell: Cell):
    async with talking(cell) as talk:
        answer = await talk.begin("resources/read", {"uri": "notes://held"})
        assert answer is not None
        await talk.gate.until(entered=1)
        answer.leave()
        await talk.gate.until(cancelled=1)


@proves("direct.deadline", *HTTP)
@pytest.mark.virtual_time
@pytest.mark.parametrize("cell", sorted(HTTP, key=CELLS.index))
async def test_reading_ends_at_its_deadline(cell: Cell):
    async with talking(cell) as talk:
        assert talk.peer is not None
        answer = talk.peer.start("resources/read", {"uri": "notes://held"}, accept="application/json")
        with anyio.fail_after(61):
            await answer.ended.wait()
        error = (await answer.json())["error"]
        assert (error["code"], error["data"]["code"]) == (-32003, "service_timeout")
        assert talk.gate.cancelled == 1
