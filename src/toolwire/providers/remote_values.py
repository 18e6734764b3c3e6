"""From the official MCP client's values to ours: tools with their grade, results whole; it opens no connection."""

from typing import TYPE_CHECKING, Any

import msgspec

from toolwire.core.errors import InvalidAgentResponse, ServiceUnavailable
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import TOOL_FAILED, Content, Failure, Result, Text
from toolwire.core.tool import RiskLevel, Tool

if TYPE_CHECKING:
    from mcp import types

NO_REASON = "the tool failed and did not say why"


def grade(annotations: JsonObject | None, trusted: bool) -> RiskLevel:
    """How much harm a remote tool can do, from MCP's hints about it (sdk.md §3.7).

    A server says of itself what it likes, so a hint only makes a tool more dangerous, unless the server is `trusted`:
    then `readOnlyHint` makes it "low". A tool without hints is "medium".
    """
    hints = annotations or {}
    if hints.get("destructiveHint") is True:
        return "high"
    return "low" if trusted and hints.get("readOnlyHint") is True else "medium"


def tool_of(listed: "types.Tool", source: str, trusted: bool, timeout_s: float | None) -> Tool:
    """The tool as it was listed; its version is the beginning of its digest."""
    annotations = None
    if listed.annotations is not None:
        annotations = listed.annotations.model_dump(by_alias=True, mode="json", exclude_none=True)
    icons = [icon.model_dump(by_alias=True, mode="json", exclude_none=True) for icon in listed.icons or ()]
    made = Tool(
        name=listed.name,
        description=listed.description or "",
        input_schema=listed.input_schema,
        title=listed.title,
        output_schema=listed.output_schema,
        annotations=annotations,
        icons=icons or None,
        risk_level=grade(annotations, trusted),
        timeout_s=timeout_s,
        source=source,
    )
    return msgspec.structs.replace(made, version=made.digest()[:16])


def tools_of(listed: "tuple[types.Tool, ...]", name: str, trusted: bool, timeout_s: float | None) -> dict[str, Tool]:
    """Tools by their names; `name` is what messages call the server.

    Raises:
        ServiceUnavailable: two have the same.
    """
    tools: dict[str, Tool] = {}
    for each in listed:
        if each.name in tools:
            raise ServiceUnavailable(f"{name} lists two tools named {each.name!r}")
        tools[each.name] = tool_of(each, f"mcp:{name}", trusted, timeout_s)
    return tools


def result_of(answer: "types.CallToolResult") -> Result:
    """The answer of a `tools/call`, whole: every block, the structured content, and the words of an error.

    Raises:
        InvalidAgentResponse: a content block is none.
    """
    content = tuple(_block(block) for block in answer.content)
    structured: Any = msgspec.UNSET
    if "structured_content" in answer.model_fields_set:
        structured = answer.structured_content
    meta: Any = answer.meta
    if not answer.is_error:
        return Result(content=content, structured=structured, meta=meta)
    reason = "\n".join(block.text for block in content if isinstance(block, Text)).strip()
    if not reason and structured is not msgspec.UNSET:
        reason = msgspec.json.encode(structured).decode()
    return Result(content=content, structured=structured, error=Failure(TOOL_FAILED, reason or NO_REASON), meta=meta)


def _block(block: "types.ContentBlock") -> Content:
    if block.type == "text" and block.annotations is None and block.meta is None:
        return Text(text=block.text)
    dumped = block.model_dump(by_alias=True, mode="json", exclude_none=True)
    try:
        return msgspec.convert(dumped, Content)
    except msgspec.ValidationError as error:
        raise InvalidAgentResponse(f"a content block of type {block.type!r} cannot be read: {error}") from None
