"""An MCP server of 2026-07-28 over HTTP that answers by hand what a test tells it to, and counts what it was asked."""

import json
from collections.abc import Callable
from typing import Any

import anyio

SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}
Answering = Callable[[dict[str, Any]], dict[str, Any]]


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"The tool {name}.", "inputSchema": SCHEMA, **more}


class Spoken:
    """An ASGI app; `answers` has by method what makes a result of the params, and may be changed at any time.

    With a `pause`, a call sets its second event when it has come and is answered once the first is set.
    """

    def __init__(self, tools: list[dict[str, Any]], **capabilities: Any) -> None:
        self.tools = tools
        self.ttl_ms = 0
        self.scope = "private"
        self.asked: list[str] = []
        self.pause: tuple[anyio.Event, anyio.Event] | None = None
        self.answers: dict[str, Answering] = {
            "server/discover": lambda _: {
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}, **capabilities},
                "ttlMs": 0,
                "cacheScope": "private",
            },
            "tools/list": lambda _: self.listed("tools", self.tools),
            "tools/call": lambda params: {"content": [{"type": "text", "text": params["name"]}]},
        }

    def listed(self, kind: str, entries: list[dict[str, Any]], cursor: str | None = None) -> dict[str, Any]:
        """One page of a list."""
        page = {kind: entries, "ttlMs": self.ttl_ms, "cacheScope": self.scope}
        return page if cursor is None else {**page, "nextCursor": cursor}

    def count(self, method: str) -> int:
        """How often `method` was asked for."""
        return self.asked.count(method)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        if scope["method"] != "POST":
            await send({"type": "http.response.start", "status": 405, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        body = b""
        while True:
            part = await receive()
            body += part.get("body", b"")
            if not part.get("more_body"):
                break
        message = json.loads(body)
        self.asked.append(message["method"])
        if message["method"] == "tools/call" and self.pause is not None:
            go_on, arrived = self.pause
            arrived.set()
            await go_on.wait()
        answering = self.answers.get(message["method"])
        if answering is None:
            reply: dict[str, Any] = {"error": {"code": -32601, "message": "unknown method"}}
        else:
            answer = answering(message.get("params", {}))
            reply = answer if "error" in answer else {"result": {"resultType": "complete", **answer}}
        encoded = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), **reply}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(encoded))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": encoded})
