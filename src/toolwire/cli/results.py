"""What a tool answered, for a person: its text on stdout, pictures and files announced or saved; it calls nothing.

The result is the JSON of MCP's `CallToolResult`.
"""

from base64 import b64decode
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from toolwire.cli.failure import Failed
from toolwire.cli.output import print_text, say


class Payload(Struct, frozen=True):
    """Bytes that a result holds, and what they are."""

    data: bytes
    mime_type: str


def print_result(result: dict[str, Any], output: Path | None, *, quiet: bool = False) -> None:
    """Print the texts of a result, and announce or save what is no text.

    Args:
        result: `content` and perhaps `structuredContent`.
        output: where to save the pictures, sounds and files, or without any of these the text; a second one gets `-2`
            before its suffix, and so on.
        quiet: print no text; stdout has the result already, as JSON.

    Raises:
        Failed: a block does not hold what it says, or a file cannot be written.
    """
    texts: list[str] = []
    payloads: list[Payload] = []
    for block in result.get("content", ()):
        match _shown(block):
            case Payload() as payload:
                payloads.append(payload)
            case text:
                texts.append(text)
    if not texts and not payloads and "structuredContent" in result:
        texts.append(msgspec.json.format(msgspec.json.encode(result["structuredContent"])).decode())
    if output is not None and texts and not payloads:
        payloads, texts = [Payload("\n".join(texts).encode(), "text/plain")], []
    for text in () if quiet else texts:
        print_text(text)
    for number, payload in enumerate(payloads, 1):
        what = f"{payload.mime_type}, {len(payload.data):,} bytes"
        if output is None:
            say(f"[{what}; save it with --output FILE]")
        else:
            say(f"[{what}, saved as {_save(payload, output, number)}]")


def _shown(block: dict[str, Any]) -> str | Payload:
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image" | "audio", "data": str(data), **more}:
            return _payload(data, more)
        case {"type": "resource", "resource": {"text": str(text)}}:
            return text
        case {"type": "resource", "resource": {"blob": str(data), **more}}:
            return _payload(data, more)
        case {"type": "resource_link", "uri": str(uri), **more}:
            return f"{uri} ({more['name']})" if more.get("name") else uri
        case _:
            return msgspec.json.encode(block).decode()


def _payload(data: str, more: dict[str, Any]) -> Payload:
    try:
        return Payload(b64decode(data, validate=True), str(more.get("mimeType") or "application/octet-stream"))
    except ValueError:
        raise Failed("the tool's answer holds data that is not base64", "invalid_agent_response") from None


def _save(payload: Payload, output: Path, number: int) -> Path:
    path = output if number == 1 else output.with_stem(f"{output.stem}-{number}")
    try:
        path.write_bytes(payload.data)
    except OSError as error:
        raise Failed(f"cannot write {str(path)!r}: {error.strerror}", "system") from None
    return path
