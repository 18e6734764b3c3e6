"""Manifests for tests: a good one to change, and those of public cards, written anew from what they declare."""

from typing import Any

import msgspec

GOOD: dict[str, Any] = {
    "manifestVersion": 1,
    "name": "test-radar",
    "displayName": {"en": "Test radar", "zh": "测试雷达"},
    "version": "1.2.0",
    "protocol": 1,
    "author": {"name": "Ada"},
    "entry": "dist/index.html",
    "permissions": ["agents.read", "terminals.write", {"id": "clipboard.write", "optional": True}],
    "tools": [
        {
            "name": "run_tests",
            "title": "Run the tests",
            "description": "Runs the project's tests in the connected terminal and returns the failing ones.",
            "inputSchema": {"type": "object", "properties": {"filter": {"type": "string", "maxLength": 200}}},
            "timeoutMs": 120000,
        }
    ],
}


def text(length: int) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": length}


def closed(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema


STATUS = {"enum": ["proposed", "accepted", "superseded"], "description": "Where the decision stands → now"}
LIMIT = {"type": "integer", "minimum": 1, "maximum": 50}
NAMES = {"type": "array", "maxItems": 20, "items": text(80)}

PUBLIC: dict[str, list[dict[str, Any]]] = {
    "decision-log": [
        {
            "name": "record",
            "title": "Record a decision",
            "description": 'Writes down what was decided and why, so that "later" can be asked.',
            "inputSchema": closed(
                {"title": text(200), "decision": text(4000), "status": STATUS, "tags": NAMES, "files": NAMES},
                "title",
                "decision",
            ),
        },
        {
            "name": "search",
            "description": "Finds decisions.",
            "readOnly": True,
            "inputSchema": closed(
                {
                    "query": text(200),
                    "status": STATUS,
                    "tag": text(80),
                    "limit": LIMIT,
                }
            ),
        },
        {
            "name": "get",
            "description": "One decision in full.",
            "readOnly": True,
            "inputSchema": closed({"id": text(16)}, "id"),
        },
        {
            "name": "set_status",
            "description": "Moves a decision on.",
            "inputSchema": closed(
                {"id": text(16), "status": STATUS, "supersededBy": text(16), "note": text(500)}, "id", "status"
            ),
        },
    ],
    "launch-control": [
        {"name": "list_checks", "description": "All checks.", "readOnly": True, "inputSchema": closed({})},
        {
            "name": "set_check",
            "description": "Marks a check.",
            "inputSchema": closed(
                {"check": text(64), "status": {"enum": ["go", "no-go", "open"]}, "note": text(280)}, "check", "status"
            ),
        },
        {"name": "add_check", "description": "Adds a check.", "inputSchema": closed({"title": text(120)}, "title")},
    ],
    "repo-radar": [
        {
            "name": "status",
            "description": "How the repository does.",
            "readOnly": True,
            "timeoutMs": 45000,
            "inputSchema": closed({}),
        }
    ],
    "agent-pulse": [
        {
            "name": "report",
            "description": "What the agents did lately.",
            "readOnly": True,
            "inputSchema": closed({"minutes": {"type": "integer", "minimum": 5, "maximum": 1440}}),
        }
    ],
}
"""The tools of four public cards (cards.md §2), by the card's name."""


def manifest(**changes: Any) -> dict[str, Any]:
    """`GOOD` with some keys changed; `None` takes one away."""
    made = {**GOOD, **changes}
    return {key: value for key, value in made.items() if value is not None}


def with_tool(**changes: Any) -> dict[str, Any]:
    """`GOOD` with its tool changed."""
    tool = {**GOOD["tools"][0], **changes}
    return manifest(tools=[{key: value for key, value in tool.items() if value is not None}])


def with_schema(**changes: Any) -> dict[str, Any]:
    """`GOOD` with its tool's schema changed."""
    return with_tool(inputSchema={"type": "object", **changes})


def public(name: str) -> dict[str, Any]:
    """The manifest of a public card."""
    return manifest(name=name, displayName={"en": name, "ru": name}, tools=PUBLIC[name])


def encoded(value: Any) -> bytes:
    return msgspec.json.encode(value)
