"""A real `toolwire up` whose canvas is driven over REST, and official MCP clients on its toolboxes."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

from tests.e2e.running import Process, Ready


class Host:
    """A running `toolwire up`, asked as its owner."""

    def __init__(self, ready: Ready, client: httpx2.AsyncClient) -> None:
        self.ready = ready
        self._client = client

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        response = await self._client.request(method, f"/api/v1{path}", json=body)
        assert response.is_success, response.text
        return response.json()["data"] if response.content else None

    async def desk(self, folder: Path) -> tuple[dict[str, Any], dict[str, Any], str]:
        """An agent joined to a copy of the card in `folder`: both cards, and the path of the workspace."""
        offer = await self.ask("POST", "/card-packages", {"source": str(folder)})
        await self.ask(
            "POST", f"/card-packages/{offer['package']}/consent", {"digest": offer["digest"], "accept": True}
        )
        path = f"/workspaces/{(await self.ask('POST', '/workspaces', {'name': 'desk'}))['id']}"
        agent = await self.ask("POST", f"{path}/cards", {"kind": "agent", "title": "writer"})
        card = await self.ask("POST", f"{path}/cards", {"kind": "card", "package": offer["package"]})
        await self.ask("POST", f"{path}/arrows", {"source": agent["id"], "target": card["id"]})
        return agent, card, path


@asynccontextmanager
async def running_host(tmp_path: Path) -> AsyncGenerator[Host]:
    with Process(["up", "--port", "0", "--json"], tmp_path) as process:
        ready = Ready(**process.line())
        headers = {"authorization": f"Bearer {ready.owner_key}"}
        async with httpx2.AsyncClient(base_url=ready.url, headers=headers, timeout=30) as client:
            yield Host(ready, client)


@asynccontextmanager
async def toolbox(agent: dict[str, Any]) -> AsyncGenerator[ClientSession]:
    headers = {"authorization": f"Bearer {agent['agent_key']}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as client,
        streamable_http_client(agent["toolbox_url"], http_client=client) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        yield session
