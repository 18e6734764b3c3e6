"""A gateway with an agent that polls, asked without a socket, and receivers of webhooks on this machine.

async with open_hooked(tmp_path) as site, open_receiver() as receiver:
    hook = await site.ask("POST", f"{site.base}/webhooks", {"url": receiver.url}, status=201)
    await site.call("work", {"n": 1})
    sent = await receiver.next()
"""

import json
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
from anyio.abc import SocketAttribute, SocketStream

from toolwire.config import Config
from toolwire.gateway.host import Gateway, open_gateway

SECRET = "a-secret-of-32-characters-or-more"
QUICK = (0.01, 0.01)
"""A schedule of three attempts in no time."""


@dataclass
class Site:
    """What `work` answers hangs on its argument `say`: a text, `fail`, or nothing while `gate` is closed."""

    gateway: Gateway
    client: httpx2.AsyncClient
    key: str
    agent_id: str
    agent_key: str
    bak: str
    gate: anyio.Event
    waiting: anyio.Event
    taken: list[dict[str, Any]]

    @property
    def base(self) -> str:
        return f"/agents/{self.agent_id}"

    async def ask(self, method: str, path: str, body: Any = None, *, status: int = 200, key: str | None = None) -> Any:
        """One REST request, as the owner unless it says otherwise; `data` of a good answer, `error` of a bad one."""
        headers = {"authorization": f"Bearer {key or self.key}"}
        response = await self.client.request(method, f"/api/v1{path}", json=body, headers=headers)
        assert response.status_code == status, response.text
        if not response.content:
            return None
        return response.json()["data" if status < 400 else "error"]

    async def call(
        self, tool: str, arguments: dict[str, Any] | None = None, *, key: str | None = None, **meta: Any
    ) -> dict[str, Any]:
        """The response to a tools/call; `meta` goes by names such as `toolwire/webhook`."""
        params: dict[str, Any] = {"name": tool, "arguments": arguments or {}}
        if meta:
            params["_meta"] = {f"toolwire/{name}": value for name, value in meta.items()}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {"authorization": f"Bearer {key or self.bak}"}
        return (await self.client.post(f"/{self.agent_id}/mcp", json=body, headers=headers)).json()

    async def deliveries(self, webhook: dict[str, Any]) -> list[dict[str, Any]]:
        """The deliveries of a webhook, the newest first."""
        place = f"/tasks/{webhook['task_id']}" if "task_id" in webhook else ""
        return await self.ask("GET", f"{self.base}{place}/webhooks/{webhook['webhook_id']}/deliveries")

    async def settled(self, webhook: dict[str, Any]) -> dict[str, Any]:
        """The newest delivery of a webhook, as soon as it is over."""
        with anyio.fail_after(10):
            while True:
                found = await self.deliveries(webhook)
                if found and found[0]["status"] != "pending":
                    return found[0]
                await anyio.sleep(0.01)

    async def _read(self, read: Any) -> Any:
        sent = {"authorization": f"Bearer {self.agent_key}"}
        response = await self.client.post(f"/api/v1{self.base}/deliveries/read", json=read, headers=sent)
        return response.json()["data"] if response.status_code == 200 else ()

    async def serve(self) -> None:
        """The agent, as long as it is not removed."""
        while self.gateway.agents.known(self.agent_id) is not None:
            read = {"max": 10, "block_ms": 1000}
            for found in await self._read(read):
                message = found["message"]
                self.taken.append(message)
                said = message["payload"]["tool"]["arguments"].get("say", "done")
                if said == "wait":
                    self.waiting.set()
                    await self.gate.wait()
                failed = {"is_error": True} if said == "fail" else {}
                reply = {
                    "type": "agent_reply",
                    "payload": {"text": said, **failed},
                    "in_reply_to": message["message_id"],
                }
                await self.ask("POST", f"/channels/{message['channel_id']}/messages", reply, key=self.agent_key)


@asynccontextmanager
async def open_hooked(folder: Path, **settings: Any) -> AsyncGenerator[Site]:
    """A gateway on `folder` that tells webhooks on this machine, and its one agent."""
    chosen: dict[str, Any] = {"webhook_schedule_s": QUICK, "webhook_allow_cidrs": ("127.0.0.0/8",), **settings}
    config = Config(data=str(folder), public_url="http://localhost", **chosen)
    async with open_gateway(config) as gateway:
        kept = folder / "site.json"
        key = gateway.owner_key or json.loads(kept.read_text())["key"]
        transport = httpx2.ASGITransport(gateway.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=30) as client:
            site = Site(gateway, client, key, "", "", "", anyio.Event(), anyio.Event(), [])
            if kept.exists():
                known = json.loads(kept.read_text())
                site.agent_id, site.agent_key, site.bak = known["agent_id"], known["agent_key"], known["bak"]
            else:
                made = await site.ask("POST", "/agents", {"name": "worker"}, status=201)
                site.agent_id, site.agent_key = made["agent_id"], made["agent_key"]
                site.bak = (await site.ask("POST", "/keys", {"agent_id": site.agent_id}, status=201))["key"]
                kept.write_text(json.dumps({**made, "key": key, "bak": site.bak}))
            skill = {"name": "work", "description": "Works.", "exposeAsTool": True, "inputSchema": {"type": "object"}}
            agent = {"name": "Worker", "skills": [skill, {**skill, "name": "rest"}]}
            await site.ask("POST", "/agents/sync", {"agents": [agent]}, key=site.agent_key)
            await site.ask("POST", f"{site.base}/deliveries/read", {"block_ms": 0}, key=site.agent_key)  # it is there
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(site.serve)
                try:
                    yield site
                finally:
                    tasks.cancel_scope.cancel()


@dataclass
class Sent:
    """One attempt as it came in."""

    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Receiver:
    """Answers each attempt with the next of `answers`, 200 when there is none: a status, a head, or a behaviour.

    `hang` never answers, `stream` answers 200 and never stops, `drop` closes the connection.
    """

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/hook"
        self.answers: list[int | str] = []
        self.sent: list[Sent] = []
        self._inbox, self._outbox = anyio.create_memory_object_stream[Sent](10_000)

    async def next(self) -> Sent:
        """The next attempt."""
        with anyio.fail_after(10):
            return await self._outbox.receive()

    @property
    def waiting(self) -> int:
        """How many attempts have come in that nobody has taken."""
        return self._outbox.statistics().current_buffer_used

    async def handle(self, stream: SocketStream) -> None:
        async with stream:
            try:
                await self._answer(stream)
            except (anyio.BrokenResourceError, anyio.EndOfStream, anyio.ClosedResourceError):
                return

    async def _answer(self, stream: SocketStream) -> None:
        data = b""
        while b"\r\n\r\n" not in data:
            data += await stream.receive()
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")[1:]
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        while len(body) < int(headers["content-length"]):
            body += await stream.receive()
        sent = Sent(headers, body)
        self.sent.append(sent)
        self._inbox.send_nowait(sent)
        how = self.answers.pop(0) if self.answers else 200
        if how == "hang":
            await anyio.sleep_forever()
        if how == "stream":
            await stream.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
            while True:
                await stream.send(b"4000\r\n" + b"x" * 0x4000 + b"\r\n")
        if isinstance(how, int):
            await stream.send(f"HTTP/1.1 {how} Status\r\ncontent-length: 0\r\n\r\n".encode())
        elif how != "drop":
            await stream.send(f"HTTP/1.1 {how}\r\ncontent-length: 0\r\n\r\n".encode())

    def shut(self) -> None:
        self._inbox.close()
        self._outbox.close()


@asynccontextmanager
async def open_receiver(*answers: int | str) -> AsyncGenerator[Receiver]:
    """A receiver on a free port."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", family=socket.AF_INET)
    receiver = Receiver(listener.extra(SocketAttribute.local_port))
    receiver.answers += answers
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, receiver.handle)
        try:
            yield receiver
        finally:
            tasks.cancel_scope.cancel()
            receiver.shut()
