"""What a handler returns means the same in both languages (cards.md 40-52, decisions 29-32)."""

import base64
import json
import subprocess
from typing import Any

import msgspec

from tests.card_sdk.package import built
from toolwire.card.results import result_of
from toolwire.wire.card_messages import ToolResult

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n0000").decode()
TEXT = {"type": "text", "text": "a"}
IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}

RETURNED: list[Any] = [
    "",
    "words",
    "two\nlines ü 🦊",
    True,
    0,
    -1.5,
    [],
    {},
    [1, [2, {"a": None}]],
    {"b": 1, "a": {"ü": '🦊 \\ " \u2028'}},
    {"content": []},
    {"content": "a"},
    {"content": [TEXT], "more": 1},
    {"content": [{**TEXT, "more": 1}]},
    {"content": [{"type": "audio", "data": PNG}]},
    {"content": [TEXT], "isError": "yes"},
    {"content": [TEXT]},
    {"content": [TEXT], "isError": True},
    {"content": [TEXT], "isError": False},
    {"content": [IMAGE, TEXT]},
    {"content": [TEXT] * 16},
    {"content": [TEXT] * 17},
    {"content": [{**IMAGE, "mimeType": "image/tiff"}]},
    {"content": [{**IMAGE, "mimeType": "image/gif"}]},
    {"content": [{**IMAGE, "data": "no base64"}]},
    {"content": [{**IMAGE, "data": ""}]},
    "x" * (1024 * 1024),
    ["x" * (1024 * 1024)],
]

SCRIPT = """
import { readFileSync } from "node:fs";
import { resultOf } from "./dist/results.js";
const means = (returned) => {
  try {
    return resultOf(returned);
  } catch (error) {
    return error.message;
  }
};
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(means)));
"""


def test_a_value_means_the_same_result_or_the_same_words():
    package = built()
    command = [str(package.node), "--input-type=module", "--eval", SCRIPT]
    sent = json.dumps(RETURNED)
    done = subprocess.run(command, cwd=package.folder, input=sent, capture_output=True, text=True, check=True)
    for returned, there in zip(RETURNED, json.loads(done.stdout), strict=True):
        assert _told(there) == _meaning(returned), returned


def _meaning(returned: Any) -> ToolResult | str:
    try:
        return result_of(returned)
    except ValueError as error:
        return str(error).replace("'", '"')


def _told(there: Any) -> ToolResult | str:
    return there.replace("'", '"') if isinstance(there, str) else msgspec.convert(there, ToolResult)
