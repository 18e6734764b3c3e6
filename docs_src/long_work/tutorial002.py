from dataclasses import dataclass

import anyio

from toolwire import Server
from toolwire.sdk import ToolContext

server = Server("cleaner", "1.0.0")


@dataclass
class Agreement:
    agreed: bool


@server.tool(task="later")
async def clean(folder: str, ctx: ToolContext) -> str:
    """Clean a folder, if that is wanted."""
    answer = await ctx.elicit(f"Delete everything in {folder}?", Agreement)
    if answer.content is None or not answer.content.agreed:
        return "nothing was deleted"
    await ctx.become_task()
    await anyio.sleep(0.5)
    again = await ctx.elicit(f"{folder} is empty. Delete it, too?", Agreement)
    gone = again.content is not None and again.content.agreed
    return f"{folder} is {'gone' if gone else 'empty'}"
