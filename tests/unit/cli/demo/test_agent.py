"""The demo agent's tools: the contract's two, to the letter, and a third that streams."""

from typing import Any

import pytest

from toolwire.cli.demo.agent import Demo
from toolwire.testing.agents import Harness

SEED_TOOLS: list[dict[str, Any]] = [
    {
        "name": "web_search",
        "description": "Search the web for current information on any topic.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "The search query"},
                "max_results": {
                    "type": "integer",
                    "description": "Maximum number of results to return",
                    "default": 5,
                },
            },
            "required": ["query"],
        },
    },
    {
        "name": "screenshot",
        "description": "Take a screenshot of the current browser or desktop view.",
        "inputSchema": {"type": "object", "properties": {}},
    },
]
"""The tools as the gateway's contract lists them (gateway.md 6)."""


@pytest.fixture
def demo() -> Harness:
    return Harness(Demo("agent_demo", "http://127.0.0.1:8094").agent())


def test_two_tools_are_those_of_the_contract_with_nothing_added():
    skills = Demo("agent_demo", "http://127.0.0.1:8094").agent().registration().skills

    shown = [
        {"name": skill.name, "description": skill.description, "inputSchema": skill.input_schema} for skill in skills
    ]
    assert shown[:2] == SEED_TOOLS
    assert [skill.name for skill in skills] == ["web_search", "screenshot", "summarize", "summarize_pdf"]
    assert all(skill.output_schema is None and skill.annotations is None and skill.title is None for skill in skills)


async def test_web_search_answers_as_the_contract_prints_it(demo: Harness):
    answered = await demo.acall("web_search", query="BeeOS AI agent platform", max_results=3)

    assert answered.text.startswith("Here are the top 3 results for 'BeeOS AI agent platform':\n\n1. ")
    assert "\n\n3. " in answered.text
    assert "\n\n4. " not in answered.text


async def test_screenshot_is_a_picture(demo: Harness):
    answered = await demo.acall("screenshot")

    (block,) = answered.reply.payload["content"]
    assert (block["type"], block["mimeType"]) == ("image", "image/png")
    assert block["data"].startswith("iVBORw0KGgo")


async def test_summarize_sends_each_sentence_ahead_of_the_whole(demo: Harness):
    text = "Tides rise twice a day. The moon pulls the tides. The sun helps a little with the tides. Cats sleep."

    answered = await demo.acall("summarize", text=text, max_sentences=2)

    assert len(answered.said) == 2
    assert answered.text == " ".join(answered.said)


@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        ("web_search", {"query": "?"}, "has no word to search for"),
        ("web_search", {"query": "tides", "max_results": 99}, "max_results must be from 1 to 20"),
        ("summarize", {"text": " "}, "text is empty"),
    ],
)
async def test_what_cannot_be_done_is_an_error_for_the_model(
    demo: Harness, tool: str, arguments: dict[str, object], problem: str
):
    answered = await demo.acall(tool, **arguments)

    assert answered.is_error
    assert problem in answered.text
