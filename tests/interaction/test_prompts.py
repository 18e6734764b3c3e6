"""What a conversation may begin with, and what completes its arguments, on either wire (mcp.md 1.2)."""

from typing import Any

import pytest

from tests.interaction.bench import OLD
from tests.interaction.cells import EVERY_CELL, SECRET, talking
from tests.interaction.requirements import HTTP_2025, Cell, proves

on_every_cell = pytest.mark.parametrize("cell", EVERY_CELL)


def said(text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": {"type": "text", "text": text}}


def asking(name: str, argument: str, value: str = "", kind: str = "prompt", **context: Any) -> dict[str, Any]:
    """Parameters of `completion/complete`."""
    ref = {"type": "ref/prompt", "name": name} if kind == "prompt" else {"type": "ref/resource", "uri": name}
    return {"ref": ref, "argument": {"name": argument, "value": value}, **context}


@proves("prompts.list")
@on_every_cell
async def test_prompts_are_listed_with_what_their_arguments_mean(cell: Cell):
    async with talking(cell) as talk:
        result = await talk.result("prompts/list")
        assert [each["name"] for each in result["prompts"]] == ["summary", "review", "held-prompt", "needy", "crash"]
        assert result["prompts"][0] == {
            "name": "summary",
            "title": "Summary",
            "description": "Sum the notes up.",
            "arguments": [
                {"name": "topic", "description": "what they are about.", "required": True},
                {"name": "style", "description": "how long it shall be."},
                {"name": "count", "description": "how many points."},
            ],
        }
        assert ("ttlMs" in result, "cacheScope" in result) == ((talk.era != OLD),) * 2


@proves("prompts.get")
@on_every_cell
async def test_a_prompt_is_filled_in_with_texts_that_stand_for_what_its_author_meant(cell: Cell):
    async with talking(cell) as talk:
        params = {"name": "summary", "arguments": {"topic": "mice", "count": "5"}}
        result = await talk.result("prompts/get", params)
        assert result == {"description": "Sum the notes up.", "messages": [said("Sum up 'mice': short, 5 points.")]}


@proves("prompts.get")
@on_every_cell
async def test_a_prompt_holds_texts_pictures_and_resources_of_either_side(cell: Cell):
    async with talking(cell) as talk:
        result = await talk.result("prompts/get", {"name": "review", "arguments": {"uri": "notes://7"}})
        assert result["messages"] == [
            {
                "role": "user",
                "content": {"type": "resource", "resource": {"uri": "notes://7", "text": "the note"}},
            },
            {"role": "assistant", "content": {"type": "image", "data": "iVBORw==", "mimeType": "image/png"}},
            said("What is wrong with it?"),
            {"role": "user", "content": {"type": "resource_link", "uri": "notes://all", "name": "all"}},
        ]


@proves("tools.links", HTTP_2025)
async def test_a_client_of_before_links_gets_the_address_as_text():
    async with talking(HTTP_2025) as talk:
        assert talk.peer is not None
        params = {"name": "review", "arguments": {"uri": "notes://7"}}
        answer = await talk.peer.ask("prompts/get", params, mcp_protocol_version="2025-03-26")
        last = (await answer.json())["result"]["messages"][-1]
        assert last["content"]["resource"] == {"uri": "notes://all", "mimeType": "text/uri-list", "text": "notes://all"}


@proves("prompts.bad")
@on_every_cell
@pytest.mark.parametrize(
    ("params", "param"),
    [
        ({"name": "nothing"}, "name"),
        ({"name": "summary"}, "arguments/topic"),
        ({"name": "summary", "arguments": {"topic": "x", "style": "endless"}}, "arguments/style"),
        ({"name": "summary", "arguments": {"topic": "x", "size": "1"}}, "arguments/size"),
        ({"name": "summary", "arguments": {"topic": 7}}, "arguments"),
        ({"name": "summary", "arguments": []}, "arguments"),
    ],
)
async def test_a_prompt_that_cannot_be_filled_in_is_an_error_that_names_the_argument(
    cell: Cell, params: dict[str, Any], param: str
):
    async with talking(cell) as talk:
        error = await talk.error("prompts/get", params)
        assert (error["code"], error["data"]["param"]) == (-32602, param)


@proves("prompts.failed")
@on_every_cell
async def test_a_prompt_that_crashes_tells_nothing_of_the_inside(cell: Cell):
    async with talking(cell) as talk:
        error = await talk.error("prompts/get", {"name": "crash"})
        assert error["code"] == -32603
        assert SECRET not in str(error)


@proves("direct.others")
@on_every_cell
async def test_others_are_answered_while_a_prompt_is_made(cell: Cell):
    async with talking(cell) as talk:
        held = await talk.begin("prompts/get", {"name": "held-prompt"}, 1)
        await talk.gate.until(entered=1)
        assert "result" in (await talk.say("prompts/list", None, 2))[0]
        talk.gate.release.set()
        assert (await talk.rest(held, 1))[-1]["result"]["messages"] == [said("let go")]


@proves("completion")
@on_every_cell
@pytest.mark.parametrize(
    ("params", "values"),
    [
        (asking("summary", "style"), ["short", "long"]),
        (asking("summary", "style", "L"), ["long"]),
        (asking("summary", "count"), []),
        (asking("notes://{number}", "number", kind="resource"), ["0", "1", "2"]),
        (asking("files://{+path}{?part,size}", "size", "s", kind="resource"), ["small"]),
        (asking("files://{+path}{?part,size}", "path", "s", kind="resource"), []),
    ],
)
async def test_an_argument_is_completed(cell: Cell, params: dict[str, Any], values: list[str]):
    async with talking(cell) as talk:
        result = await talk.result("completion/complete", params)
        assert result == {"completion": {"values": values, "total": len(values), "hasMore": False}}


@proves("completion")
@on_every_cell
async def test_a_hundred_values_are_sent_and_the_rest_is_counted(cell: Cell):
    async with talking(cell) as talk:
        params = asking("summary", "topic", "m", context={"arguments": {"style": "long"}})
        found = (await talk.result("completion/complete", params))["completion"]
        assert found["values"] == [f"mlong{number}" for number in range(100)]
        assert (found["total"], found["hasMore"]) == (150, True)


@proves("completion")
@on_every_cell
@pytest.mark.parametrize(
    "params",
    [
        asking("nothing", "topic"),
        asking("summary", "nothing"),
        asking("notes://all", "number", kind="resource"),
        {"ref": {"type": "ref/tool", "name": "log"}, "argument": {"name": "x", "value": ""}},
        {"ref": {"type": "ref/prompt", "name": "summary"}, "argument": {"name": "topic"}},
        {"ref": {"type": "ref/prompt", "name": "summary"}},
        {"ref": "summary", "argument": {"name": "topic", "value": ""}},
        asking("summary", "topic", context=[]),
        asking("summary", "topic", context={"arguments": {"style": 1}}),
    ],
)
async def test_what_cannot_be_completed_is_an_error_of_the_protocol(cell: Cell, params: dict[str, Any]):
    async with talking(cell) as talk:
        assert (await talk.error("completion/complete", params))["code"] == -32602
