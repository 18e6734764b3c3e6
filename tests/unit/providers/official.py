"""An MCP server of the official SDK, with a tool for each kind of answer; as a script it speaks stdio."""

from base64 import b64encode
from typing import Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)

PIXEL = b64encode(b"\x89PNG pixel").decode()
SOUND = b64encode(b"RIFF sound").decode()


EVERY_KIND = CallToolResult(
    content=[
        TextContent(type="text", text="words"),
        ImageContent(type="image", data=PIXEL, mime_type="image/png"),
        AudioContent(type="audio", data=SOUND, mime_type="audio/wav"),
        EmbeddedResource(
            type="resource",
            resource=TextResourceContents(uri="file:///a.txt", mime_type="text/plain", text="A"),
        ),
        EmbeddedResource(type="resource", resource=BlobResourceContents(uri="file:///b.bin", blob=SOUND)),
        ResourceLink(type="resource_link", uri="file:///c.txt", name="c"),
    ],
    structured_content={"n": 1},
)


def make_server() -> MCPServer:
    server = MCPServer("official", version="7")

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    def echo(text: str) -> str:
        """Say it again."""
        return text

    @server.tool(annotations=ToolAnnotations(destructive_hint=True))
    def erase() -> str:
        """Erase everything."""
        return "gone"

    @server.tool()
    def everything() -> CallToolResult:
        """One block of each kind."""
        return EVERY_KIND

    @server.tool()
    def fail() -> CallToolResult:
        """Fail with words."""
        return CallToolResult(content=[TextContent(type="text", text="the disk is full")], is_error=True)

    @server.tool()
    def big(size: int) -> str:
        """As many letters as wanted."""
        return "x" * size

    @server.tool()
    async def steps(ctx: Context[Any, Any]) -> str:
        """Tell of two steps."""
        await ctx.report_progress(1, 2, "one")
        await ctx.report_progress(2, 2, "two")
        return "done"

    @server.tool()
    async def grow(ctx: Context[Any, Any]) -> str:
        """Have one more tool from now on, and say so."""

        def extra() -> str:
            """Something new."""
            return "new"

        server.add_tool(extra)
        await ctx.notify_tools_changed()
        await ctx.request_context.session.send_tool_list_changed()
        return "grown"

    return server


if __name__ == "__main__":
    anyio.run(make_server().run_stdio_async)
