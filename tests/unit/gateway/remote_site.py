"""A gateway without a socket, and a remote MCP server on this machine that answers what a test tells it to.

async with open_remote_site(tmp_path) as site:
    remote = await site.add("notes", headers={"authorization": "Bearer s3cret"})
    answer = await site.call(remote, "search")
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2

from tests.unit.providers.remote_rig import Counted, serving
from tests.unit.providers.spoken import Spoken
from tests.unit.providers.spoken import tool as listed
from toolwire.config import Config
from toolwire.gateway.host import Gateway, open_gateway


def no_such_tool(_params: dict[str, Any]) -> dict[str, Any]:
    return {"error": {"code": -32602, "message": "there is no such tool any more"}}


@dataclass
class RemoteSite:
    """`far` is the remote server, `heard` what came in there, `url` its address."""

    gateway: Gateway
    client: httpx2.AsyncClient
    key: str
    far: Spoken
    heard: Counted
    url: str

    async def ask(self, method: str, path: str, body: Any = None, *, status: int = 200, key: str | None = None) -> Any:
        """One REST request, as the owner unless it says otherwise; `data` of a good answer, `error` of a bad one."""
        headers = {"authorization": f"Bearer {key or self.key}"}
        response = await self.client.request(method, f"/api/v1{path}", json=body, headers=headers)
        assert response.status_code == status, response.text
        if not response.content:
            return None
        return response.json()["data" if status < 400 else "error"]

    async def add(self, alias: str = "notes", **more: Any) -> dict[str, Any]:
        """Put the remote server behind the gateway."""
        body = more if "command" in more or "url" in more else {"url": self.url, **more}
        return await self.ask("POST", "/remotes", {"alias": alias, **body}, status=201)

    async def rpc(
        self, remote: dict[str, Any], method: str, params: dict[str, Any] | None = None, *, key: str | None = None
    ) -> dict[str, Any]:
        """The response to one request at the server's endpoint on the gateway."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        headers = {"authorization": f"Bearer {key or self.key}"}
        return (await self.client.post(f"/{remote['agent_id']}/mcp", json=body, headers=headers)).json()

    async def call(
        self, remote: dict[str, Any], name: str, arguments: dict[str, Any] | None = None, *, key: str | None = None
    ) -> dict[str, Any]:
        """The response to a tools/call."""
        return await self.rpc(remote, "tools/call", {"name": name, "arguments": arguments or {}}, key=key)

    async def tools(self, remote: dict[str, Any]) -> dict[str, str]:
        """The descriptions of the tools that callers see, by name."""
        found = (await self.rpc(remote, "tools/list"))["result"]["tools"]
        return {each["name"]: each["description"] for each in found}

    async def change(self, remote: dict[str, Any], *tools: dict[str, Any]) -> list[dict[str, Any]]:
        """Have the server list other tools, and the gateway look at them; what then waits for consent.

        `store` must be one of the old ones that may be called: the server no longer knows it, so its list is old.
        """
        self.far.tools[:] = tools
        answers = self.far.answers["tools/call"]
        self.far.answers["tools/call"] = no_such_tool
        await self.call(remote, "store")
        self.far.answers["tools/call"] = answers
        server = self.gateway.remotes.find(remote["agent_id"])
        assert server is not None
        await server.upstream.renew()
        await server.publish()
        return await self.ask("GET", "/consents")


@asynccontextmanager
async def open_remote_site(folder: Path, key: str | None = None, **settings: Any) -> AsyncGenerator[RemoteSite]:
    """A gateway on `folder`; at a second start the first one's `key` goes on opening it."""
    far = Spoken([listed("search"), listed("store")])
    heard = Counted(far)
    values: dict[str, Any] = {"data": str(folder), "public_url": "http://localhost", **settings}
    async with serving(heard) as url, open_gateway(Config(**values)) as gateway:
        owner_key = key or gateway.owner_key
        assert owner_key is not None
        transport = httpx2.ASGITransport(gateway.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=30) as client:
            with anyio.fail_after(30):
                yield RemoteSite(gateway, client, owner_key, far, heard, f"{url}/mcp")
