"""The one scenario that every official client goes through, step by step, and what it must see; it talks to nobody.

A step's name stands in the script of each language, in this order; what it has seen is JSON, so that all compare.
"""

from typing import Any

from tests.interaction.bench import NEW, OLD

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"
TOOLS = [
    *("echo", "add", "steps", "fail", "picture", "log", "grow"),
    *("ask_name", "ask_model", "hold", "was_cancelled"),
]

STEPS: dict[str, Any] = {
    "connect": {"name": "scenario", "version": "1.0.0", "instructions": "Follow the steps."},
    "list_tools": TOOLS,
    "list_resources": ["scenario://about", "scenario://pixel"],
    "list_templates": ["scenario://{number}/square"],
    "list_prompts": [{"name": "greet", "arguments": ["name", "tone"]}],
    "call": {"content": [{"type": "text", "text": "hé\n\u2028"}]},
    "structured_output": {"sum": 42},
    "image": {"mimeType": "image/png", "data": PIXEL},
    "progress": {"heard": [[1, 3, "step 1"], [2, 3, "step 2"], [3, 3, "step 3"]], "text": "done"},
    "error_result": {"isError": True, "text": "it does not work"},
    "bad_arguments": {"isError": True},
    "unknown_tool": {"code": -32602, "token": "tool_not_found"},
    "read_text": {"mimeType": "text/plain", "text": "A scenario."},
    "read_bytes": {"mimeType": "image/png", "blob": PIXEL},
    "read_template": "49",
    "get_prompt": [{"role": "user", "text": "Greet Ada, calm."}],
    "completion": ["Ada", "Alan"],
    "logging": [["info", "noted"], ["error", "bad"]],
    "elicitation": "accept: Ada",
    "sampling": "a-model: it rises",
    "list_changed": [*TOOLS, "grown"],
    "together": True,
    "cancellation": {"gaveUp": True, "wasCancelled": True},
    "after": "still here",
}
"""By step, what a client sees on either wire and every transport."""

CLIENTS = [
    ("python", "legacy", OLD),
    ("python", "auto", NEW),
    ("typescript v1", "legacy", OLD),
    ("typescript v2", "legacy", OLD),
    ("typescript v2", "auto", NEW),
]
"""Every official client in each revision that it speaks: its name, its mode, and the revision."""
