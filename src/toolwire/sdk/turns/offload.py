"""What the model is shown of a large output, and how it reads the rest; it does not store outputs.

An output beyond `HostConfig.tool_output_inline_limit` is shown by its beginning and its end. From then on the task has
a tool, `ReadOutput`, for what lies between (sdk.md §4.7).
"""

from typing import Any

import msgspec

from toolwire.core.call import Call
from toolwire.core.handler import Emit, Handler
from toolwire.core.result import Result
from toolwire.sdk.content import ContentRef
from toolwire.sdk.hosting.contents import Contents
from toolwire.sdk.hosting.task import Task
from toolwire.sdk.turns.mounted import Mounted, provider_entry
from toolwire.sdk.turns.outcome import JSON, Outcome, failure
from toolwire.sdk.turns.selection import READ_OUTPUT

READ_CHARS = 20_000
"""What `ReadOutput` gives at once, unless asked for less."""
TAIL_SHARE = 5
"""One part in this many of what is shown is the output's end."""

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "output_ref": {"type": "string", "description": "The reference that the shortened output gives."},
        "offset": {"type": "integer", "minimum": 0, "description": "The first character wanted; 0 is the beginning."},
        "limit": {"type": "integer", "minimum": 1, "description": f"How many characters; at most {READ_CHARS}."},
    },
    "required": ["output_ref"],
    "additionalProperties": False,
}
_DESCRIPTION = (
    "Read a part of an output that was too long to be shown whole. Give the output_ref of the shortened output; "
    "offset and limit count characters."
)


def shown(outcome: Outcome, ref: ContentRef, limit: int | None) -> tuple[Any, bool]:
    """What the model reads of the output, and whether that is less than the output.

    Args:
        outcome: how the call ended.
        ref: where the whole output is.
        limit: characters that are shown; `None` for all.
    """
    output = outcome.output
    if limit is None or len(outcome.body) <= limit:
        return output, False
    text = output if isinstance(output, str) else outcome.body.decode()
    if len(text) <= limit:
        return output, False
    tail = limit // TAIL_SHARE
    head = limit - tail
    note = (
        f'\n<truncated-output total_characters="{len(text)}" left_out="{head}-{len(text) - tail}">'
        f'\nRead what is left out with {READ_OUTPUT}(output_ref="{ref.hash}", offset={head}).'
        "\n</truncated-output>\n"
    )
    return text[:head] + note + (text[-tail:] if tail else ""), True


def read_output(task: Task, contents: Contents, limit: int | None) -> Mounted:
    """The tool that reads the outputs of `task` that were cut, and no others."""
    most = READ_CHARS if limit is None else max(1, min(READ_CHARS, limit))
    return Mounted(
        name=READ_OUTPUT,
        risk_level="low",
        handler=_handler(task, contents, most),
        entry=provider_entry(READ_OUTPUT, _DESCRIPTION, _SCHEMA),
        source="the built-in tools",
        builtin=True,
        overlaps=True,
        timeout_s=None,
        repeatable=True,
        misfit=_misfit,
    )


def _misfit(arguments: dict[str, Any]) -> str | None:
    if not isinstance(arguments.get("output_ref"), str):
        return "invalid arguments: output_ref must be the reference that a shortened output gave"
    for name, least in (("offset", 0), ("limit", 1)):
        value = arguments.get(name, least)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            return f"invalid arguments: {name} must be a whole number from {least} on, got {value!r}"
    return None


def _handler(task: Task, contents: Contents, most: int) -> Handler:
    async def read(call: Call, _emit: Emit) -> Result:
        wanted = call.arguments["output_ref"]
        ref = task.cut.get(wanted)
        body = None if ref is None else await contents.load(wanted)
        if ref is None or body is None:
            return failure(f"there is no shortened output {wanted!r}; known are: {', '.join(task.cut) or 'none'}")
        text = _text(body, ref.media_type)
        offset = call.arguments.get("offset", 0)
        end = min(len(text), offset + min(call.arguments.get("limit", most), most))
        if offset >= len(text):
            return failure(f"the output has {len(text)} characters; offset must be less")
        more = f"; go on with offset={end}" if end < len(text) else "; this is the end"
        page = f"{text[offset:end]}\n(characters {offset}-{end} of {len(text)}{more})"
        return Outcome(output=page, body=msgspec.json.encode(page))

    return read


def _text(body: bytes, media_type: str) -> str:
    if media_type != JSON:
        return body.decode(errors="replace")
    decoded = msgspec.json.decode(body)
    return decoded if isinstance(decoded, str) else body.decode()
