"""A card on the host's link without a socket, and an agent on its toolbox: both speak the wire, and nothing else."""

from collections import deque
from collections.abc import AsyncGenerator, MutableMapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec

from tests.unit.canvas.site import Site
from tests.unit.card.manifests import GOOD, encoded


class WireCard:
    """A card: it says `host.ready` by itself, and leaves everything else to the test."""

    def __init__(self) -> None:
        self._to_host: list[MutableMapping[str, Any]] = [{"type": "websocket.connect"}]
        self._sent = anyio.Event()
        self._messages: deque[dict[str, Any]] = deque()
        self._got = anyio.Event()
        self._ids = 0
        self.closed: MutableMapping[str, Any] | None = None

    async def receive(self) -> MutableMapping[str, Any]:
        while not self._to_host:
            self._sent = anyio.Event()
            await self._sent.wait()
        return self._to_host.pop(0)

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "websocket.send":
            self._messages.append(msgspec.json.decode(message["text"]))
        elif message["type"] == "websocket.close":
            self.closed = message
        self._got.set()

    async def say(self, text: str) -> None:
        self._push({"type": "websocket.receive", "text": text})

    async def request(self, method: str, **params: Any) -> int:
        """Send a request; its answer comes among the messages."""
        self._ids += 1
        await self.say(msgspec.json.encode({"id": self._ids, "method": method, "params": params}).decode())
        return self._ids

    async def next(self) -> dict[str, Any]:
        with anyio.fail_after(5):
            while not self._messages:
                self._got = anyio.Event()
                await self._got.wait()
        return self._messages.popleft()

    async def wait_closed(self) -> MutableMapping[str, Any]:
        """How the host has ended the connection."""
        with anyio.fail_after(5):
            while self.closed is None:
                self._got = anyio.Event()
                await self._got.wait()
        return self.closed

    async def event(self, name: str) -> dict[str, Any]:
        """The data of the next event of that name; others, and answers, are passed over."""
        while True:
            message = await self.next()
            if message.get("event") == name:
                return message["data"]

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """A request and its result; what is an error fails the test."""
        answer = await self.answer(method, **params)
        assert "error" not in answer, answer
        return answer["result"]

    async def answer(self, method: str, **params: Any) -> dict[str, Any]:
        """A request and its answer, good or bad; events that come before it are kept for later."""
        wanted, early = await self.request(method, **params), list[dict[str, Any]]()
        while (message := await self.next()).get("id") != wanted:
            early.append(message)
        self._messages.extendleft(reversed(early))
        return message

    async def respond(self, call: dict[str, Any], *parts: dict[str, Any], **more: Any) -> None:
        content = list(parts) or [{"type": "text", "text": "done"}]
        await self.ask("tools.respond", callId=call["callId"], result={"content": content, **more})

    async def hang_up(self) -> None:
        self._push({"type": "websocket.disconnect", "code": 1006})

    def _push(self, message: MutableMapping[str, Any]) -> None:
        self._to_host.append(message)
        self._sent.set()


@asynccontextmanager
async def connected(
    site: Site, package: str, instance: str | None = None, made: WireCard | None = None
) -> AsyncGenerator[WireCard]:
    """A card of a package that has said `host.ready`."""
    async with linked(site, package, made=made) as card:
        params = {"protocol": 1, "sdk": "test"} | ({} if instance is None else {"instance": instance})
        await card.ask("host.ready", **params)
        yield card


@asynccontextmanager
async def linked(
    site: Site, package: str, key: str | None = None, made: WireCard | None = None
) -> AsyncGenerator[WireCard]:
    """A card on the link that has said nothing yet."""
    card = made or WireCard()
    scope = {
        "type": "websocket",
        "path": "/api/v1/cards/link",
        "query_string": f"package={package}".encode(),
        "headers": [
            (b"host", b"localhost"),
            (b"authorization", f"Bearer {site.owner_key if key is None else key}".encode()),
        ],
    }

    async def serve() -> None:
        await site.host.app(scope, card.receive, card.send)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        yield card
        await card.hang_up()
        tasks.cancel_scope.cancel()


class WireAgent:
    """An agent on its toolbox, on the wire of 2025-11-25, a request at a time."""

    def __init__(self, site: Site, card: dict[str, Any]) -> None:
        self._site = site
        self.id: str = card["agent_id"]
        self._key: str = card["agent_key"]

    def move_to(self, site: Site) -> None:
        """From now on it asks another host, or the same one after its restart."""
        self._site = site

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The whole response to a request."""
        response = await self._site.client.post(
            f"/{self.id}/toolbox/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
            headers={"authorization": f"Bearer {self._key}", "accept": "application/json"},
        )
        return response.json()

    async def tools(self) -> list[str]:
        """The names that it sees, without the two that are always there."""
        listed = (await self.ask("tools/list"))["result"]["tools"]
        return [tool["name"] for tool in listed if not tool["name"].startswith("toolwire_")]

    async def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """The result of a call."""
        response = await self.ask("tools/call", name=name, arguments=arguments)
        assert "result" in response, response
        return response["result"]

    async def text(self, name: str, /, **arguments: Any) -> str:
        """The text of a call that fails, for the agent to read."""
        result = await self.call(name, **arguments)
        assert result["isError"] is True, result
        return result["content"][0]["text"]


async def install(site: Site, folder: Path, declared: dict[str, Any] = GOOD) -> str:
    """Write, install and accept a package; says its id."""
    (folder / "dist").mkdir(parents=True, exist_ok=True)
    (folder / "dist" / "index.html").write_text("<p>card</p>")
    (folder / "toolwire-card.json").write_bytes(encoded(declared))
    offer = await site.ask("POST", "/card-packages", {"source": str(folder)}, status=201)
    if offer["status"] == "consent_required":
        body = {"digest": offer["digest"], "accept": True}
        await site.ask("POST", f"/card-packages/{offer['package']}/consent", body)
    return offer["package"]


class Desk:
    """A workspace with an agent and a card of one package, joined by an arrow."""

    def __init__(self, site: Site, workspace: str, package: str, agent: WireAgent) -> None:
        self.site = site
        self.id = workspace
        self.package = package
        self.agent = agent
        self.agent_card = ""
        self.card = ""
        self.arrow = ""

    @property
    def path(self) -> str:
        return f"/workspaces/{self.id}"

    async def log(self) -> list[dict[str, Any]]:
        """The calls of the arrow."""
        return (await self.site.ask("GET", f"{self.path}/arrows/{self.arrow}/log"))["calls"]

    async def lines(self) -> list[dict[str, Any]]:
        """The card's own log."""
        return (await self.site.ask("GET", f"{self.path}/cards/{self.card}/log"))["lines"]


async def desk_with(site: Site, folder: Path, declared: dict[str, Any] = GOOD) -> Desk:
    """A desk with a card of the package that is declared."""
    package, workspace = await install(site, folder, declared), await site.workspace()
    agent = await site.card(workspace, "agent", title="writer")
    desk = Desk(site, workspace, package, WireAgent(site, agent))
    desk.agent_card = agent["id"]
    desk.card = (await site.card(workspace, "card", package=package))["id"]
    desk.arrow = await site.arrow(workspace, agent["id"], desk.card)
    return desk
