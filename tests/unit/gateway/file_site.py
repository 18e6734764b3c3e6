"""A gateway's files over REST, in memory and without a socket; it asserts only that requests go as they should.

async with open_file_site() as site:
    file_id = await site.put(b"%PDF-1.7", "q3.pdf", "application/pdf")
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from tests.unit.gateway.world import World, open_world
from toolwire.adapters.memory_blobs import MemoryBlobs
from toolwire.core.ports import Blobs
from toolwire.gateway.file_links import FileLinks
from toolwire.gateway.files import FileRules, Files
from toolwire.gateway.keys import FIRST_OWNER
from toolwire.gateway.rest import Reader
from toolwire.gateway.routes_files import FileRoutes
from toolwire.surfaces.limits import Guard
from toolwire.surfaces.rest import RestApp

PDF = "application/pdf"
SECRET = b"s" * 32


class FileSite:
    """Files, and a client that has the first owner's key."""

    def __init__(self, world: World, files: Files, client: httpx2.AsyncClient, keys: dict[str, str]) -> None:
        self.world = world
        self.files = files
        self.client = client
        self.keys = keys

    async def announce(self, name: str = "q3.pdf", content_type: str = PDF, key: str = "oag") -> dict[str, Any]:
        """What presign-upload says."""
        body = {"filename": name, "content_type": content_type}
        response = await self.client.post("/api/v1/files/presign-upload", json=body, headers=self.as_(key))
        assert response.status_code == 200, response.text
        return response.json()["data"]

    async def put(self, data: bytes, name: str = "q3.pdf", content_type: str = PDF, key: str = "oag") -> str:
        """The id of a file that is uploaded."""
        announced = await self.announce(name, content_type, key)
        response = await self.send(announced, data, content_type)
        assert response.status_code == 200, response.text
        return announced["file_id"]

    async def send(self, announced: dict[str, Any], data: Any, content_type: str = PDF) -> httpx2.Response:
        """The answer to a PUT to an upload_url."""
        return await self.client.put(announced["upload_url"], content=data, headers={"content-type": content_type})

    async def show(self, file_id: str, key: str = "oag") -> httpx2.Response:
        """The answer to a GET of a file by a key."""
        return await self.client.get(f"/api/v1/files/{file_id}", headers=self.as_(key))

    def as_(self, key: str) -> dict[str, str]:
        return {"authorization": f"Bearer {self.keys[key]}"}


@asynccontextmanager
async def open_file_site(rules: FileRules | None = None, blobs: Blobs | None = None) -> AsyncGenerator[FileSite]:
    """Files with the keys `oag`, `bak` and `agk` of the first owner and its agent, and `other`, another owner's."""
    world = await open_world()
    first = await world.keys.ensure_first_owner()
    agent_id = (await world.agents.create(FIRST_OWNER, "demo")).agent_id
    keys = {"oag": first or ""}
    for kind in ("bak", "agk"):
        keys[kind] = (await world.keys.create(kind, FIRST_OWNER, agent_id))[1]
    keys["bak2"] = (await world.keys.create("bak", FIRST_OWNER, agent_id))[1]
    keys["other"] = (await world.keys.create_owner("other"))[1]
    files = Files(world.store, blobs or MemoryBlobs(), world.clock, FileLinks(SECRET, world.clock), rules)
    app = RestApp(FileRoutes(Reader(world.auth, world.agents), files, world.clock).routes(), Guard(), lambda: "Bearer")
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield FileSite(world, files, client, keys)
