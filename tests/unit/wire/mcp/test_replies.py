"""Results as MCP's JSON, in both revisions (mcp.md 1.2; gateway.md 14, D17)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from toolwire.core.event import Progress
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import (
    Audio,
    Content,
    Embedded,
    Image,
    Link,
    ResourceContents,
    Result,
    Text,
    failed,
    text_result,
)
from toolwire.wire.mcp.envelope import SERVER_INFO_KEY
from toolwire.wire.mcp.handshake import ServerInfo
from toolwire.wire.mcp.replies import (
    Stamp,
    modern_result,
    plain_result,
    progress_body,
    tool_result,
    tools_list_result,
)

INFO = {"name": "toolwire", "version": "1.2"}
STAMP = Stamp(ServerInfo("toolwire", "1.2"))
OLD, NEW = "2025-11-25", "2026-07-28"


def shown(result: Result, version: str = OLD, meta: JsonObject | None = None) -> Any:
    """The result as JSON; every member stands once."""
    body = tool_result(result, meta, STAMP if version == NEW else None, version)

    def once(pairs: list[tuple[str, Any]]) -> Any:
        assert len({key for key, _ in pairs}) == len(pairs), pairs
        return dict(pairs)

    return json.loads(body, object_pairs_hook=once)


def test_a_result_has_what_is_set_and_nothing_else():
    assert shown(text_result("hi")) == {"content": [{"type": "text", "text": "hi"}]}
    assert shown(Result()) == {"content": []}


def test_the_newer_wire_adds_the_kind_of_result_and_who_we_are():
    assert shown(text_result("hi"), NEW) == {
        "content": [{"type": "text", "text": "hi"}],
        "resultType": "complete",
        "_meta": {SERVER_INFO_KEY: INFO},
    }


@pytest.mark.parametrize("version", [OLD, NEW])
def test_a_failure_is_a_result_that_says_so(version: str):
    result = shown(failed("no"), version)
    assert result["isError"] is True
    assert result["content"] == [{"type": "text", "text": "no"}]


@pytest.mark.parametrize("version", [OLD, NEW])
def test_our_meta_joins_the_tools_own(version: str):
    result = shown(Result(meta={"tool": 1, "both": 1}), version, {"ours": 2, "both": 2})
    ours = {SERVER_INFO_KEY: INFO} if version == NEW else {}
    assert result["_meta"] == {"tool": 1, "both": 2, "ours": 2, **ours}


@pytest.mark.parametrize("version", [OLD, NEW])
def test_a_tool_cannot_say_who_we_are(version: str):
    result = shown(Result(meta={SERVER_INFO_KEY: {"name": "liar"}}), version)
    assert result.get("_meta") == ({SERVER_INFO_KEY: INFO} if version == NEW else None)


@pytest.mark.parametrize("structured", [{}, {"a": [1, None]}])
@pytest.mark.parametrize("version", [OLD, NEW])
def test_an_object_is_structured_content_on_both_wires(structured: Any, version: str):
    assert shown(Result(structured=structured), version)["structuredContent"] == structured


@pytest.mark.parametrize("structured", [None, 7, "x", [1], False])
def test_any_other_value_is_structured_content_on_the_newer_wire_alone(structured: Any):
    assert shown(Result(structured=structured), NEW)["structuredContent"] == structured
    assert "structuredContent" not in shown(Result(structured=structured), OLD)


@pytest.mark.parametrize("version", [OLD, NEW])
def test_no_structured_content_is_not_null(version: str):
    assert "structuredContent" not in shown(Result(structured=UNSET), version)


BLOCKS: list[tuple[Content, JsonObject]] = [
    (Text("hi"), {"type": "text", "text": "hi"}),
    (Image("AA==", "image/png"), {"type": "image", "data": "AA==", "mimeType": "image/png"}),
    (Audio("AA==", "audio/wav"), {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}),
    (
        Link("file:///a", "a", size=0, mime_type="text/plain"),
        {"type": "resource_link", "uri": "file:///a", "name": "a", "size": 0, "mimeType": "text/plain"},
    ),
    (
        Embedded(ResourceContents("file:///a", "text/plain", text="")),
        {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": ""}},
    ),
    (
        Text("hi", annotations={"priority": 1}, meta={"k": 1}),
        {"type": "text", "text": "hi", "annotations": {"priority": 1}, "_meta": {"k": 1}},
    ),
]


@pytest.mark.parametrize(("block", "expected"), BLOCKS)
@pytest.mark.parametrize("version", ["2025-06-18", OLD, NEW])
def test_each_kind_of_content_is_spelled_as_mcp_spells_it(block: Content, expected: JsonObject, version: str):
    assert shown(Result(content=(block,)), version)["content"] == [expected]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26"])
def test_a_link_for_a_client_that_knows_none_is_its_address_as_text(version: str):
    content = (Text("see"), Link("file:///a", "a"))
    assert shown(Result(content=content), version)["content"] == [
        {"type": "text", "text": "see"},
        {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/uri-list", "text": "file:///a"}},
    ]


def test_lists_carry_their_caching_hints_on_the_newer_wire():
    listing = b'[{"name":"a"}]'
    assert json.loads(tools_list_result(listing, None)) == {"tools": [{"name": "a"}]}
    assert json.loads(tools_list_result(listing, STAMP)) == {
        "tools": [{"name": "a"}],
        "ttlMs": 0,
        "cacheScope": "private",
        "resultType": "complete",
        "_meta": {SERVER_INFO_KEY: INFO},
    }


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.integers(), max_size=3))
def test_any_members_become_a_result_of_either_wire(members: dict[str, int]):
    assert json.loads(plain_result(members)) == members
    stamped = {"resultType": "complete", "_meta": {SERVER_INFO_KEY: INFO}}
    if not members.keys() & stamped.keys():
        assert json.loads(modern_result(members, STAMP)) == {**members, **stamped}


def test_progress_repeats_the_token_and_leaves_out_what_is_not_known():
    assert json.loads(progress_body(b'"tok"', Progress(1.5))) == {
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {"progressToken": "tok", "progress": 1.5},
    }
    assert json.loads(progress_body(b"7", Progress(1, 2, "half")))["params"] == {
        "progressToken": 7,
        "progress": 1,
        "total": 2,
        "message": "half",
    }
