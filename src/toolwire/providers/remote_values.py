"""From the official MCP client's values to ours: tools with their grade, results whole; it opens no connection."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from toolwire.core.errors import InvalidAgentResponse, MissingCapability, ServiceUnavailable
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.core.result import TOOL_FAILED, Content, Failure, Result, Text
from toolwire.core.tool import RiskLevel, TaskMode, Tool
from toolwire.wire.mcp.handshake import TASKS

if TYPE_CHECKING:
    from mcp import Client, types

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


def tool_of(
    listed: "types.Tool", source: str, trusted: bool, timeout_s: float | None, task: TaskMode = "never"
) -> Tool:
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
        task=task,
        meta=listed.meta,
    )
    return msgspec.structs.replace(made, version=made.digest()[:16])


def tools_of(
    listed: "tuple[types.Tool, ...]",
    name: str,
    trusted: bool,
    timeout_s: float | None,
    task_of: "Callable[[types.Tool], TaskMode]" = lambda _: "never",
) -> dict[str, Tool]:
    """Tools by their names; `name` is what messages call the server, `task_of` says whether calls may be tasks there.

    Raises:
        ServiceUnavailable: two have the same.
    """
    tools: dict[str, Tool] = {}
    for each in listed:
        if each.name in tools:
            raise ServiceUnavailable(f"{name} lists two tools named {each.name!r}")
        tools[each.name] = tool_of(each, f"mcp:{name}", trusted, timeout_s, task_of(each))
    return tools


def task_modes(client: "Client | None") -> "Callable[[types.Tool], TaskMode]":
    """Whether calls of a server's tools may be tasks there.

    "required" says that the server wants to be asked for a task, as one of 2025-11-25 may; "maybe" that it decides, or
    takes it either way.
    """
    has: Any = None if client is None else client.server_capabilities
    if has is not None and TASKS in (has.extensions or {}):
        return lambda _: "maybe"
    requests: Any = None if has is None or has.tasks is None else has.tasks.requests
    if requests is None or requests.tools is None or requests.tools.call is None:
        return lambda _: "never"
    return _legacy_mode


def _legacy_mode(listed: "types.Tool") -> TaskMode:
    match None if listed.execution is None else listed.execution.task_support:
        case "required":
            return "required"
        case "optional":
            return "maybe"
        case _:
            return "never"


def needs_tasks(result: Result) -> bool:
    """Whether a call was refused because its client does not declare that it knows tasks."""
    error = result.error
    if error is None or error.code != MissingCapability.code:
        return False
    wanted = as_object((error.data or {}).get("requiredCapabilities")) or {}
    return TASKS in (as_object(wanted.get("extensions")) or {})


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
