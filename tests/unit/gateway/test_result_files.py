"""gateway.md D17, §6: files in what agents answer, and results that are too large to be answered as they are."""

from base64 import b64encode
from pathlib import Path
from typing import Any

from tests.unit.gateway.polled_site import STRICT, PolledSite, open_polled_site
from toolwire.core.jsontypes import JsonObject

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels" * 10
LIMIT = 4096
TYPED: JsonObject = {
    "name": "typed",
    "inputSchema": STRICT,
    "outputSchema": {"type": "object", "properties": {"rows": {"type": "array"}}, "required": ["rows"]},
}
PLAIN: JsonObject = {"name": "plain", "inputSchema": STRICT}


NEW = {"mcp-protocol-version": "2025-11-25"}


async def answered(site: PolledSite, payload: JsonObject, **more: Any) -> JsonObject:
    more.setdefault("headers", NEW)
    answer = await site.answered(
        more.pop("tool", "summarize_pdf"), more.pop("arguments", {}), lambda _: payload, **more
    )
    return answer["result"] if "result" in answer else answer["error"]


def link_to(file_id: str) -> JsonObject:
    return {"type": "resource_link", "uri": f"toolwire://files/{file_id}", "name": "whatever"}


async def test_a_picture_of_the_agents_is_answered_as_a_picture(tmp_path: Path):
    """D17: file part image/* up to the limit."""
    async with open_polled_site(tmp_path) as site:
        file_id = await site.put(PNG, "plot.png", "image/png", "agk")
        result = await answered(site, {"text": "", "content": [link_to(file_id)]})
        assert result["content"] == [{"type": "image", "data": b64encode(PNG).decode(), "mimeType": "image/png"}]


async def test_another_file_and_a_large_picture_are_links_that_need_no_key(tmp_path: Path):
    """D17: otherwise a resource_link; issue: an image up to the inline limit inline, otherwise a link."""
    async with open_polled_site(tmp_path, result_inline_limit_bytes=LIMIT) as site:
        large = await site.put(PNG * 100, "plot.png", "image/png", "agk")
        report = await site.put(b"a,b", "report.csv", "text/csv", "agk")
        result = await answered(site, {"text": "", "content": [link_to(report), link_to(large)]})
        first, second = result["content"]
        assert (first["type"], first["name"], first["mimeType"], first["size"]) == (
            "resource_link",
            "report.csv",
            "text/csv",
            3,
        )
        assert (await site.client.get(first["uri"])).content == b"a,b"
        assert (await site.client.get(second["uri"])).content == PNG * 100
        told = result["_meta"]["toolwire/files"]
        assert [file["file_id"] for file in told] == [report, large]
        assert (await site.ask("GET", f"/files/{report}", key="bak"))["size"] == 3, "the caller may ask again by id"


async def test_a_client_of_before_resource_links_gets_the_address_as_text(tmp_path: Path):
    """D17: else embedded text/uri-list."""
    async with open_polled_site(tmp_path) as site:
        report = await site.put(b"a,b", "report.csv", "text/csv", "agk")
        result = await answered(
            site, {"text": "", "content": [link_to(report)]}, headers={"mcp-protocol-version": "2025-03-26"}
        )
        [block] = result["content"]
        assert (block["type"], block["resource"]["mimeType"]) == ("resource", "text/uri-list")
        assert (await site.client.get(block["resource"]["text"])).content == b"a,b"


async def test_a_file_that_came_along_may_be_answered_and_one_of_somebody_else_may_not(tmp_path: Path):
    """D30: an agent reaches what it was sent and what it made."""
    async with open_polled_site(tmp_path) as site:
        given, other = await site.put(b"x", "a.txt", "text/plain"), await site.put(b"y", "b.txt", "text/plain")
        arguments = {"attachments": [{"file_id": given}]}
        result = await answered(site, {"text": "", "content": [link_to(given)]}, arguments=arguments)
        assert result["content"][0]["name"] == "a.txt"
        for file_id in (other, "file_0"):
            error = await answered(site, {"text": "", "content": [link_to(file_id)]}, arguments=arguments)
            assert (error["code"], error["data"]["code"]) == (-32603, "invalid_agent_response")


async def test_a_large_text_becomes_a_file_and_nothing_of_it_is_lost(tmp_path: Path):
    """issue: large results spilled to a file instead of cut."""
    text = "\n".join(f"line {n} of many" for n in range(1000))
    async with open_polled_site(tmp_path, result_inline_limit_bytes=LIMIT) as site:
        result = await answered(site, {"text": text})
        shown, link = result["content"]
        assert shown["text"].startswith(text[:1000])
        assert f"[{len(text)} bytes in all" in shown["text"]
        assert (link["name"], link["mimeType"]) == ("summarize_pdf-result.txt", "text/plain; charset=utf-8")
        assert (await site.client.get(link["uri"])).text == text
        [file] = result["_meta"]["toolwire/files"]
        assert (await site.ask("GET", f"/files/{file['file_id']}", key="bak"))["filename"] == link["name"]
        assert (await site.ask("GET", f"/files/{file['file_id']}", key="bak2", status=404))["code"] == "file_not_found"
        attached = {"attachments": [{"file_id": file["file_id"]}]}
        assert "result" in await site.answered("summarize_pdf", attached, lambda _: {"text": "ok"}), "it can be sent on"


async def test_a_result_up_to_the_limit_stays_as_it_is(tmp_path: Path):
    """§6: result_inline_limit_bytes."""
    async with open_polled_site(tmp_path, result_inline_limit_bytes=LIMIT) as site:
        text = "x" * (LIMIT - 100)
        assert (await answered(site, {"text": text}))["content"] == [{"type": "text", "text": text}]


async def test_large_structured_content_becomes_a_file_unless_the_tool_has_promised_it(tmp_path: Path):
    """D17; a client refuses a result without the structured content that an outputSchema speaks of."""
    rows = {"rows": [{"n": n, "name": f"row {n}"} for n in range(500)]}
    async with open_polled_site(tmp_path, [PLAIN, TYPED], result_inline_limit_bytes=LIMIT) as site:
        plain = await answered(site, {"structured": rows}, tool="plain")
        assert "structuredContent" not in plain
        links = [block for block in plain["content"] if block["type"] == "resource_link"]
        assert len(links) == 1, "text and structured content say the same and are one file"
        assert (await site.client.get(links[0]["uri"])).json() == rows

        typed = await answered(site, {"structured": rows}, tool="typed")
        assert typed["structuredContent"] == rows


async def test_a_repeat_under_a_key_gets_the_same_links(tmp_path: Path):
    """D9: content byte-identical; nothing is kept twice."""
    async with open_polled_site(tmp_path, result_inline_limit_bytes=LIMIT) as site:
        arguments = {"idempotency_key": "k1"}
        first = await answered(site, {"text": "y" * 10_000}, arguments=arguments)
        repeat = await site.call("summarize_pdf", arguments, headers=NEW)
        assert repeat["result"]["content"] == first["content"]
        assert (await site.client.get(first["content"][1]["uri"])).text == "y" * 10_000


async def test_where_there_is_no_room_for_a_file_the_result_stays_whole(tmp_path: Path):
    """A quota never costs the caller a result that was computed."""
    async with open_polled_site(tmp_path, result_inline_limit_bytes=LIMIT, owner_files_limit_bytes=LIMIT) as site:
        result = await answered(site, {"text": "z" * 10_000})
        assert result["content"] == [{"type": "text", "text": "z" * 10_000}]


async def test_large_pictures_and_resources_become_files_of_their_type_and_the_small_stay(tmp_path: Path):
    """issue: an image up to the inline limit inline, otherwise a link; the largest parts go first."""
    data = bytes(n % 251 for n in range(9000))
    blob = b64encode(data).decode()
    content = [
        {"type": "text", "text": "here they are"},
        {"type": "image", "data": blob, "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "notes://x/../all.csv", "mimeType": "text/csv", "blob": blob}},
        {"type": "image", "data": b64encode(PNG).decode(), "mimeType": "image/png"},
    ]
    async with open_polled_site(tmp_path, result_inline_limit_bytes=LIMIT) as site:
        said, large, resource, small = (await answered(site, {"text": "", "content": content}))["content"]
        assert (said["text"], small) == ("here they are", content[3])
        assert (large["name"], large["mimeType"]) == ("summarize_pdf-image-2.png", "image/png")
        assert (resource["name"], resource["mimeType"]) == ("summarize_pdf-all.csv", "text/csv")
        for link in (large, resource):
            assert (await site.client.get(link["uri"])).content == data


async def test_a_failure_with_a_long_text_stays_a_failure(tmp_path: Path):
    """D18: what a model may read of a failure is kept like any result."""
    async with open_polled_site(tmp_path, result_inline_limit_bytes=LIMIT) as site:
        result = await answered(site, {"text": "e" * 10_000, "is_error": True})
        assert result["isError"] is True
        assert (await site.client.get(result["content"][1]["uri"])).text == "e" * 10_000
