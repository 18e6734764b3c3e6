"""A real `toolwire up` whose canvas is driven over REST, and official MCP clients on its toolboxes."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

from tests.e2e.running import Process, Ready


class Moments:
    """What a reader of a workspace's feed hears, moment by moment; `last_id` is that of the latest."""

    def __init__(self, response: httpx2.Response) -> None:
        self._lines = response.aiter_lines()
        self.last_id = ""

    async def next(self) -> dict[str, Any] | None:
        """The next moment; `None` at the end of the stream."""
        id_ = data = ""
        async for line in self._lines:
            name, _, value = line.partition(": ")
            if name == "id":
                id_ = value
            elif name == "data":
                data = value
            elif not line and data:
                self.last_id = id_
                return json.loads(data)
        return None


class Host:
    """A running `toolwire up`, asked as its owner."""

    def __init__(self, process: Process, ready: Ready, client: httpx2.AsyncClient) -> None:
        self.process = process
        self.ready = ready
        self.client = client

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        response = await self.client.request(method, f"/api/v1{path}", json=body)
        assert response.is_success, response.text
        return response.json()["data"] if response.content else None

    @asynccontextmanager
    async def feed(self, path: str, after: str = "") -> AsyncGenerator[Moments]:
        """A reader of what happens in the workspace at `path`, from now on or after the moment whose id that is."""
        headers = {"last-event-id": after} if after else {}
        async with self.client.stream("GET", f"/api/v1{path}/events", headers=headers) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            yield Moments(response)

    async def desk(self, folder: Path) -> tuple[dict[str, Any], dict[str, Any], str]:
        """An agent joined to a copy of the card in `folder`: both cards, and the path of the workspace."""
        offer = await self.ask("POST", "/card-packages", {"source": str(folder)})
        await self.ask(
            "POST", f"/card-packages/{offer['package']}/consent", {"digest": offer["digest"], "accept": True}
        )
        return await self.place(offer["package"])

    async def place(self, package: str) -> tuple[dict[str, Any], dict[str, Any], str]:
        """The same with a package that is installed."""
        path = f"/workspaces/{(await self.ask('POST', '/workspaces', {'name': 'desk'}))['id']}"
        agent = await self.ask("POST", f"{path}/cards", {"kind": "agent", "title": "writer"})
        card = await self.ask("POST", f"{path}/cards", {"kind": "card", "package": package})
        await self.ask("POST", f"{path}/arrows", {"source": agent["id"], "target": card["id"]})
        return agent, card, path


@asynccontextmanager
async def running_host(tmp_path: Path, port: int = 0) -> AsyncGenerator[Host]:
    with Process(["up", "--port", str(port), "--json"], tmp_path) as process:
        ready = Ready(**process.line())
        headers = {"authorization": f"Bearer {ready.owner_key}"}
        async with httpx2.AsyncClient(base_url=ready.url, headers=headers, timeout=30) as client:
            yield Host(process, ready, client)


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
