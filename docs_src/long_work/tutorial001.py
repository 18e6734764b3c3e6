import anyio

from toolwire import Server
from toolwire.sdk import ToolContext

server = Server("renderer", "1.0.0")


@server.tool(task="optional", task_timeout=2 * 3600)
async def render(pages: int, ctx: ToolContext) -> str:
    """Render a document."""
    for page in range(1, pages + 1):
        await ctx.progress(f"page {page} of {pages}", page, pages)
        await anyio.sleep(0.2)
    return f"{pages} pages"
