"""What the tests of faults share: an agent that does everything wrong, requests as bytes, and a look at the process.

It asserts nothing.
"""

import json
import os
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct
from websockets.sync.client import ClientConnection, connect

from tests.e2e.running import Host, Process

FAULTY = """
import os, time
import anyio
from toolwire.agent import Agent, Ctx

agent = Agent("faulty")

@agent.tool
def echo(text: str) -> str:
    return text

@agent.tool
def boom() -> str:
    raise RuntimeError("password=hunter2")

@agent.tool
async def leave() -> str:
    raise SystemExit(7)

@agent.tool
def die() -> str:
    os._exit(9)

@agent.tool
def block(seconds: float) -> str:
    time.sleep(seconds)
    return "unblocked"

@agent.tool
async def slow(seconds: float) -> str:
    await anyio.sleep(seconds)
    return "slept"

@agent.tool
def large(megabytes: int) -> str:
    return "x" * (megabytes * 1024 * 1024)

@agent.tool
async def deltas(ctx: Ctx, count: int) -> str:
    for number in range(count):
        await ctx.say(f"{number} ")
    return "said"
"""

JSON = ("Content-Type", "application/json")
LEGACY, MODERN = "2025-11-25", "2026-07-28"
MODERN_META: dict[str, Any] = {"protocolVersion": MODERN, "clientCapabilities": {}}


class Answer(Struct, frozen=True):
    """An HTTP response as it came: its status, and its body."""

    status: int
    body: bytes

    @property
    def error(self) -> Any:
        """The JSON-RPC error in it."""
        return json.loads(self.body)["error"]


class Faulty:
    """An agent on a host, as its owner calls it; several threads may."""

    def __init__(self, host: Host, agent_id: str, process: Process | None = None) -> None:
        self.host = host
        self.agent_id = agent_id
        self.process = process
        self.key = {"authorization": f"Bearer {host.ready.owner_key}"}

    def call(self, tool: str, arguments: Any = None, meta: Any = None, **headers: str) -> Any:
        """The JSON-RPC response to a `tools/call`."""
        params: dict[str, Any] = {"name": tool, "arguments": arguments or {}, "_meta": meta or {}}
        body: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return self.host.client.post(f"/{self.agent_id}/mcp", json=body, headers={**self.key, **headers}).json()

    def text(self, tool: str, arguments: Any = None, meta: Any = None, **headers: str) -> str:
        """The text of its result."""
        return self.call(tool, arguments, meta, **headers)["result"]["content"][0]["text"]

    def code(self, tool: str, arguments: Any = None, meta: Any = None, **headers: str) -> str:
        """The stable code of the error that it is answered with."""
        return self.call(tool, arguments, meta, **headers)["error"]["data"]["code"]

    def calling(self, tool: str, arguments: Any = None, meta: Any = None) -> "Calling":
        """A call in a thread of its own."""
        return Calling(lambda: self.call(tool, arguments, meta))

    def bytes_of(self, tool: str, arguments: Any = None, *headers: tuple[str, str], version: str = LEGACY) -> bytes:
        """The HTTP request of a call."""
        meta = {"progressToken": 1}
        if version == MODERN:
            meta |= {f"io.modelcontextprotocol/{name}": value for name, value in MODERN_META.items()}
            headers = (*headers, ("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", tool))
        params = {"name": tool, "arguments": arguments or {}, "_meta": meta}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
        return request(
            "POST", f"/{self.agent_id}/mcp", body, ("Authorization", self.key["authorization"]), JSON, *headers
        )


def code(response: Any) -> str:
    """The stable code of a JSON-RPC error response."""
    return response["error"]["data"]["code"]


class Calling:
    """Something that takes long, in a thread."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._outcome: list[Any] = []
        self._thread = threading.Thread(target=lambda: self._outcome.append(work()))
        self._thread.start()

    def outcome(self) -> Any:
        """What became of it."""
        self._thread.join(30)
        [outcome] = self._outcome
        return outcome


@contextmanager
def faulty_agent(cwd: Path, *flags: str, env: dict[str, str] | None = None) -> Generator[Faulty]:
    """A host of its own with the agent above."""
    (cwd / "faulty.py").write_text(FAULTY)
    with Host(cwd, *flags, env=env) as host, Process(["agent", "run", "faulty:agent"], cwd) as process:
        yield Faulty(host, host.attached("faulty"), process)


class RawAgent:
    """An agent that speaks the link's protocol by hand; see wire/link.py."""

    def __init__(self, host: Host, name: str, mode: str = "push", idempotent: bool = False) -> None:
        made = host.toolwire("agent", "create", name, "--json").json()
        self.faulty = Faulty(host, made["agent_id"])
        self.key = made["agent_key"]
        self._url = host.ready.url.replace("http", "ws") + "/api/v1/agents/link"
        skill = {"name": "do", "inputSchema": {"type": "object"}, "idempotent": idempotent}
        self._registration = {"name": name, "delivery_mode": mode, "skills": [skill]}

    @contextmanager
    def link(self, journal: str = "journal") -> "Generator[RawLink]":
        """Attached, until the block ends."""
        headers = {"Authorization": f"Bearer {self.key}"}
        with connect(self._url, additional_headers=headers, max_size=None, proxy=None) as socket:
            link = RawLink(socket)
            link.say({"frame": "hello", "protocol": 1, "journal": journal, "registration": self._registration})
            assert link.next()["frame"] == "welcome"
            yield link


class RawLink:
    """One WebSocket of an agent."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._frames: list[Any] = []

    def say(self, frame: Any) -> None:
        self._socket.send(json.dumps(frame))

    def raw(self, text: str | bytes) -> None:
        self._socket.send(text)

    def next(self) -> Any:
        """The next frame; raises when the gateway has closed."""
        while not self._frames:
            self._frames += json.loads(self._socket.recv(10))
        return self._frames.pop(0)

    def delivered(self, kind: str = "chat_message") -> Any:
        """The next message of a type."""
        while (frame := self.next())["frame"] != "deliver" or frame["message"]["type"] != kind:
            pass
        return frame["message"]

    def reply(self, message: Any, payload: Any, kind: str = "agent_reply", ref: int = 1) -> Any:
        """Publish a reply to a message; the frame that answers it."""
        said = {"ref": ref, "channel_id": message["channel_id"], "in_reply_to": message["message_id"]}
        self.say({"frame": "publish", "type": kind, "payload": payload, **said})
        while (frame := self.next()).get("ref") != ref:
            pass
        return frame


def request(method: str, path: str, body: bytes, *headers: tuple[str, str], version: str = "HTTP/1.1") -> bytes:
    """An HTTP request as bytes, after whose answer the connection ends."""
    lines = [f"{method} {path} {version}", "Connection: close", *(f"{name}: {value}" for name, value in headers)]
    if not any(name == "Host" for name, _ in headers):
        lines.append("Host: 127.0.0.1")
    if not any(name in ("Content-Length", "Transfer-Encoding") for name, _ in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def ask(host: Host, data: bytes) -> Answer:
    """What comes back for `data` on a connection of its own."""
    with opened(host) as connection:
        with suppress(ConnectionError):  # refused before all of it was sent: the answer is there all the same
            connection.sendall(data)
        head, _, body = all_of(connection).partition(b"\r\n\r\n")
    return Answer(int(head.split()[1]), body)


def opened(host: Host) -> socket.socket:
    """A connection."""
    return socket.create_connection(("127.0.0.1", host.port), timeout=30)


def all_of(connection: socket.socket) -> bytes:
    """All that still comes until the other side closes."""
    parts: list[bytes] = []
    try:
        while part := connection.recv(65_536):
            parts.append(part)
    except ConnectionResetError:
        pass  # after an answer: what was left unread of a request that was too large
    return b"".join(parts)


def open_files(pid: int) -> int:
    """How many files and connections a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))
