"""Several tools under one name, to be served or mounted together; it serves nothing itself."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from toolwire.sdk.tool import DecoratedTool


@dataclass(frozen=True)
class SdkMcpServer:
    """An in-process MCP server: a label, a version and the tools, which keep their bare names (sdk.md 47-50).

    Raises:
        TypeError: an entry of `tools` is no tool, or `name` or `version` is no text.
        ValueError: `name` or `version` is empty.
    """

    name: str
    version: str = "1.0.0"
    tools: tuple[DecoratedTool, ...] = ()

    def __post_init__(self) -> None:
        _check_label("name", self.name)
        _check_label("version", self.version)
        object.__setattr__(self, "tools", _checked_tools(self.tools))


def create_sdk_mcp_server(name: str, version: str = "1.0.0", tools: Iterable[DecoratedTool] = ()) -> SdkMcpServer:
    """Bundle `tools`; the name groups them and is no namespace, so the tools' own names must not collide.

    Raises:
        TypeError, ValueError: as `SdkMcpServer`.
    """
    return SdkMcpServer(name, version, cast("tuple[DecoratedTool, ...]", tools))


def _check_label(what: str, value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(f"create_sdk_mcp_server: `{what}` must be a text, got {type(value).__name__}")
    if not value:
        raise ValueError(f"create_sdk_mcp_server: `{what}` must be non-empty")


def _checked_tools(tools: Any) -> tuple[DecoratedTool, ...]:
    if isinstance(tools, DecoratedTool) or not isinstance(tools, Iterable):
        raise TypeError(f"create_sdk_mcp_server: `tools` must be a tuple of tools, got {type(tools).__name__}")
    listed = tuple(cast("Iterable[Any]", tools))
    for entry in listed:
        if not isinstance(entry, DecoratedTool):
            raise TypeError(
                "create_sdk_mcp_server: every tool must be a DecoratedTool (a @tool-decorated function); "
                f"got {type(entry).__name__}"
            )
    return listed
