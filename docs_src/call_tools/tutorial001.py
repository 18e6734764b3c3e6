import os

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def show(progress: float, total: float | None, message: str | None) -> None:
    print(f"… {message}")


async def main() -> None:
    url, key = os.environ["MCP_URL"], os.environ["MCP_KEY"]
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        for tool in (await client.list_tools()).tools:
            print(tool.name)
        text = "Tides rise twice a day. The moon pulls the tides. Cats sleep at noon."
        result = await client.call_tool("summarize", {"text": text, "max_sentences": 2}, progress_callback=show)
        print(result.content[0])


anyio.run(main)
