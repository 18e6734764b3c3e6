"""A whole gateway in a folder, asked over HTTP without a socket, with an agent that polls; it asserts little.

async with open_polled_site(tmp_path) as site:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(site.answer, lambda message: {"text": "done"})
        reply = await site.call("summarize_pdf", {"attachments": [...]})
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2

from toolwire.config import Config
from toolwire.core.jsontypes import JsonObject
from toolwire.gateway.host import Gateway, open_gateway

STRICT: JsonObject = {"type": "object", "properties": {}, "additionalProperties": False}
SKILLS: list[JsonObject] = [{"name": "summarize_pdf", "description": "Summarize.", "inputSchema": STRICT}]


class PolledSite:
    """The gateway, its first owner's agent, and what the agent was sent."""

    def __init__(self, gateway: Gateway, client: httpx2.AsyncClient) -> None:
        self.gateway = gateway
        self.client = client
        self.keys = {"oag": gateway.owner_key or ""}
        self.agent_id = ""
        self.seen: list[JsonObject] = []

    async def ask(self, method: str, path: str, body: Any = None, key: str = "oag", status: int = 200) -> Any:
        """One REST request; `data` of a good answer, `error` of a bad one."""
        headers = {"authorization": f"Bearer {self.keys[key]}"}
        response = await self.client.request(method, f"/api/v1{path}", json=body, headers=headers)
        assert response.status_code == status, response.text
        told = response.json()
        return told["data"] if status < 400 else told["error"]

    async def set_up(self, skills: list[JsonObject]) -> None:
        """An agent that has registered, with its keys; and another owner, with one agent of its own."""
        made = await self.ask("POST", "/agents", {"name": "demo"}, status=201)
        self.agent_id, self.keys["agk"] = made["agent_id"], made["agent_key"]
        for name in ("bak", "bak2"):
            self.keys[name] = (await self.ask("POST", "/keys", {"agent_id": "demo"}, status=201))["key"]
        self.keys["other"] = (await self.ask("POST", "/owners", {"name": "other"}, status=201))["owner_key"]
        await self.ask("POST", "/agents/sync", {"agents": [{"name": "demo", "skills": skills}]}, "agk")
        await self.read(block_ms=0)  # reading is the sign of life

    async def put(self, data: bytes, name: str, content_type: str, key: str = "oag") -> str:
        """Upload a file; its id."""
        announced = await self.ask(
            "POST", "/files/presign-upload", {"filename": name, "content_type": content_type}, key
        )
        sent = await self.client.put(announced["upload_url"], content=data, headers={"content-type": content_type})
        assert sent.status_code == 200, sent.text
        return announced["file_id"]

    async def call(
        self, tool: str, arguments: JsonObject, key: str = "bak", id: int = 1, headers: dict[str, str] | None = None
    ) -> JsonObject:
        """`tools/call` as curl does it; the whole JSON-RPC answer."""
        body = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        sent = {"x-agent-api-key": self.keys[key], **(headers or {})}
        response = await self.client.post(f"/{self.agent_id}/mcp", json=body, headers=sent)
        return response.json()

    async def read(self, block_ms: int = 5_000) -> list[JsonObject]:
        """What is delivered to the agent."""
        return await self.ask(
            "POST", f"/agents/{self.agent_id}/deliveries/read", {"max": 10, "block_ms": block_ms}, "agk"
        )

    async def answer(self, reply: Callable[[JsonObject], JsonObject]) -> None:
        """Answer one message with the payload that `reply` makes of it."""
        with anyio.fail_after(5):
            while not (found := await self.read()):
                pass
        for delivery in found:
            message = delivery["message"]
            self.seen.append(message)
            body = {"type": "agent_reply", "payload": reply(message), "in_reply_to": message["message_id"]}
            await self.ask("POST", f"/channels/{message['channel_id']}/messages", body, "agk")
            named = {"delivery_ids": [delivery["delivery_id"]]}
            await self.ask("POST", f"/agents/{self.agent_id}/deliveries/ack", named, "agk")

    async def answered(
        self, tool: str, arguments: JsonObject, reply: Callable[[JsonObject], JsonObject], **more: Any
    ) -> JsonObject:
        """A call, and the agent's answer to it."""
        answers: list[JsonObject] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.answer, reply)
            answers.append(await self.call(tool, arguments, **more))
        return answers[0]


@asynccontextmanager
async def open_polled_site(
    folder: Path, skills: list[JsonObject] | None = None, **settings: Any
) -> AsyncGenerator[PolledSite]:
    """A gateway on `folder` that has just been made."""
    config = Config(data=str(folder), public_url="http://localhost", **settings)
    async with open_gateway(config) as gateway:
        transport = httpx2.ASGITransport(gateway.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=30) as client:
            site = PolledSite(gateway, client)
            await site.set_up(SKILLS if skills is None else skills)
            yield site
