"""The everything-server: what the official suite's scenarios call, with the names and texts it fixes (mcp.md 2.2).

It is served with `toolwire tools serve`, as any author's module would be, and knows nothing of the wire.
"""

from base64 import b64decode

from toolwire.sdk import Image, ToolContext, ToolError, tool

# One red pixel.
PNG = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC")


@tool
async def test_simple_text() -> str:
    """Return one line of text."""
    return "This is a simple text response for testing."


@tool
async def test_image_content() -> Image:
    """Return a PNG image."""
    return Image(PNG, "image/png")


@tool
async def test_error_handling() -> str:
    """Fail, so that a client can show how it treats that."""
    raise ToolError("This tool intentionally returns an error for testing")


@tool
async def test_tool_with_progress(ctx: ToolContext) -> str:
    """Tell three times how far it is before it answers."""
    for done in (0, 50, 100):
        await ctx.progress(f"Completed step {done} of 100", done, 100)
    return "All steps completed"
