"""A whole host, gateway and canvas on one engine, in a folder of its own, asked over HTTP without a socket."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from toolwire.cli.host import Host, open_host
from toolwire.config import Config


@dataclass
class Site:
    host: Host
    client: httpx2.AsyncClient
    owner_key: str

    async def ask(self, method: str, path: str, body: Any = None, *, status: int = 200, **headers: str) -> Any:
        """One REST request as the owner; `data` of a good answer, `error` of a bad one."""
        sent = {"authorization": f"Bearer {self.owner_key}"} | {k.replace("_", "-"): v for k, v in headers.items()}
        response = await self.client.request(method, f"/api/v1{path}", json=body, headers=sent)
        assert response.status_code == status, response.text
        if not response.content:
            return None
        told = response.json()
        return told["data"] if status < 400 else told["error"]

    async def workspace(self, name: str = "desk") -> str:
        return (await self.ask("POST", "/workspaces", {"name": name}, status=201))["id"]

    async def card(self, workspace: str, kind: str, **more: Any) -> dict[str, Any]:
        return await self.ask("POST", f"/workspaces/{workspace}/cards", {"kind": kind, **more}, status=201)

    async def arrow(self, workspace: str, source: str, target: str, **more: Any) -> str:
        body = {"source": source, "target": target, **more}
        return (await self.ask("POST", f"/workspaces/{workspace}/arrows", body, status=201))["id"]


@asynccontextmanager
async def open_site(folder: Path, owner_key: str | None = None, **settings: Any) -> AsyncGenerator[Site]:
    """A host on `folder`; at a second start the first one's `owner_key` goes on opening it."""
    values: dict[str, Any] = {"data": str(folder), "public_url": "http://localhost", **settings}
    async with open_host(Config(**values)) as host:
        key = owner_key or host.gateway.owner_key
        assert key is not None
        transport = httpx2.ASGITransport(host.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=30) as client:
            yield Site(host, client, key)
