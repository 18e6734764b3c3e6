import anyio

from toolwire import Server
from toolwire.sdk import ToolContext

server = Server("archive", "1.0.0")


@server.tool
async def pack(files: int, ctx: ToolContext) -> str:
    """Pack files into an archive, which takes a while."""
    await ctx.close_stream(retry_after_s=5)
    for done in range(1, files + 1):
        await anyio.sleep(0.1)
        await ctx.progress(f"file {done}", done, files)
    return f"{files} files packed"
