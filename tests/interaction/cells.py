"""One client for every cell, a transport with a revision, and a server of everything but many tools; asserts nothing.

A request is answered with messages, whatever carries them: the notifications that came on the way, then the response.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from tests.interaction.bench import NEW, OLD, Bench, Gate, Peer
from tests.interaction.gateways import gateway_with
from tests.interaction.requirements import GATEWAY, STDIO, Cell
from tests.interaction.stdio import Lines, open_pipes
from tests.interaction.transport import Answer, connect
from toolwire.agent import Agent
from toolwire.sdk import Image, Resource, ToolContext, ToolError
from toolwire.server import ParamHeader, PromptMessage, Server, from_assistant, from_user

SECRET = "the-database-password"
CELLS = [cell for cell in Cell if cell not in GATEWAY]
EVERY_CELL = [*Cell]


def era_of(cell: Cell) -> str:
    """The revision of a cell."""
    return NEW if cell in (Cell.HTTP_2026, Cell.STDIO_2026, Cell.GATEWAY_2026) else OLD


def notes(gate: Gate) -> Server:
    """A server of notes; some of what it offers is held at `gate`."""
    server = Server("bench", "1.0", title="Notes", instructions="Read before you write.")
    _add_plain_resources(server, gate)
    _add_templates(server)
    _add_prompts(server, gate)
    _add_completers(server)
    _add_tools(server)
    return server


def _add_plain_resources(server: Server, gate: Gate) -> None:
    @server.resource("notes://all", title="All notes", annotations={"priority": 1.0})
    async def every() -> str:
        """Every note."""
        return "none yet"

    @server.resource("notes://picture", mime_type="image/png")
    def picture() -> bytes:
        """A picture."""
        return b"\x89PNG"

    @server.resource("notes://held")
    async def held(ctx: ToolContext) -> str:
        """What is held at the gate."""
        await ctx.progress("begun", 1, 2)
        ctx.log.warning("slow")
        await gate.hold()
        return "let go"

    @server.resource("notes://broken")
    async def broken() -> str:
        """What cannot be read."""
        raise RuntimeError(SECRET)

    @server.resource("notes://refused")
    def refused() -> str:
        """What is not for everybody."""
        raise ToolError("not for you")


def _add_templates(server: Server) -> None:
    @server.resource("notes://{number}")
    async def one(number: int) -> dict[str, int] | None:
        """One note."""
        return {"number": number} if number < 100 else None

    @server.resource("files://{+path}{?part,size}")
    async def file(path: str, part: int = 1, size: Literal["small", "large"] = "small") -> list[Resource]:
        """A file, in parts."""
        return [Resource(f"files://{path}#{part}", text=size), Resource(f"files://{path}", data=b"\0")]


def _add_prompts(server: Server, gate: Gate) -> None:
    @server.prompt(title="Summary")
    async def summary(topic: str, style: Literal["short", "long"] = "short", count: int = 3) -> str:
        """Sum the notes up.

        Args:
            topic: what they are about.
            style: how long it shall be.
            count: how many points.
        """
        return f"Sum up {topic!r}: {style}, {count + 0} points."

    @server.prompt
    def review(uri: str) -> list[PromptMessage | str]:
        """Look at a note."""
        return [
            from_user(Resource(uri, "the note")),
            from_assistant(Image(b"\x89PNG")),
            "What is wrong with it?",
            from_user(Resource("notes://all")),
        ]

    @server.prompt(name="held-prompt")
    async def held_prompt() -> str:
        await gate.hold()
        return "let go"

    @server.prompt
    async def needy(ctx: ToolContext) -> str:
        """Need a client that has roots."""
        ctx.require_client("roots")
        return f"sampling: {ctx.client_can('sampling')}"

    @server.prompt
    async def crash() -> str:
        """Fail."""
        raise RuntimeError(SECRET)


def _add_completers(server: Server) -> None:
    @server.complete("summary", "topic")
    async def topics(value: str, given: dict[str, str]) -> list[str]:
        return [f"{value}{given.get('style', '')}{number}" for number in range(150)]

    @server.complete("notes://{number}", "number")
    def numbers(value: str) -> list[str]:
        return [str(number) for number in range(3)]


def _add_tools(server: Server) -> None:
    @server.tool
    async def log(ctx: ToolContext) -> str:
        """Log at four levels."""
        ctx.log.debug("fine")
        ctx.log.info("%s done", 1)
        ctx.log.error("bad")
        ctx.log.critical("worse")
        return "logged"

    @server.tool
    async def ask_back(ctx: ToolContext) -> str:
        """Need a client that can be asked."""
        ctx.require_client("sampling", "elicitation.url")
        return "can be asked"

    @server.tool
    async def route(
        region: Annotated[str, ParamHeader("Region")] = "",
        shard: Annotated[int, ParamHeader("Shard")] = 0,
        dry: Annotated[bool, ParamHeader("Dry-Run")] = False,
    ) -> str:
        """Go where a proxy can see it."""
        return f"{region} {shard} {dry}"


class Talk:
    """A client on one cell."""

    def __init__(self, cell: Cell, server: Server, gate: Gate, peer: Peer | None, lines: Lines | None) -> None:
        self.cell = cell
        self.server = server
        self.era = era_of(cell)
        self.gate = gate
        self.peer = peer
        self.lines = lines

    async def say(self, method: str, params: Any = None, id_: Any = 1, **more: Any) -> list[Any]:
        """Send a request and return all messages that answer it."""
        return await self.rest(await self.begin(method, params, id_, **more), id_)

    async def begin(self, method: str, params: Any = None, id_: Any = 1, **more: Any) -> Answer | None:
        """Send a request; `rest` waits for what comes."""
        if self.lines is None:
            assert self.peer is not None
            return self.peer.start(method, params, id_, **more)
        await self.lines.ask(method, params, id_, self.era)
        return None

    async def rest(self, answer: Answer | None, id_: Any = 1) -> list[Any]:
        """The messages that answer a request."""
        if answer is not None:
            await answer.body()
            is_json = answer.headers["content-type"] == "application/json"
            return [await answer.json()] if is_json else await answer.frames()
        assert self.lines is not None
        found: list[Any] = []
        while not found or found[-1].get("id") != id_:
            found.append(await self.lines.message())
        return found

    async def tell(self, method: str, params: Any) -> None:
        """Send a notification."""
        if self.lines is not None:
            await self.lines.ask(method, params, None)
        else:
            assert self.peer is not None
            await self.peer.ask(method, params, None)

    async def result(self, method: str, params: Any = None) -> Any:
        """The result of a request that must have one, without what every result of 2026-07-28 has."""
        [message] = await self.say(method, params)
        result = message["result"]
        if self.era == NEW:
            assert result.pop("resultType") == "complete"
            assert result.pop("_meta")["io.modelcontextprotocol/serverInfo"]["name"] == "bench"
        return result

    async def error(self, method: str, params: Any = None) -> Any:
        """The error of a request that must have one."""
        [message] = await self.say(method, params)
        return message["error"]


@asynccontextmanager
async def talking(
    cell: Cell, offer: Callable[[Gate], Server] = notes, can: dict[str, Any] | None = None
) -> AsyncGenerator[Talk]:
    """A server and a client of it on one cell, which has a session on 2025-11-25 over HTTP, and says what it `can`."""
    if cell in STDIO:
        async with open_pipes(offer) as piped:
            assert piped.server is not None
            talk = Talk(cell, piped.server, piped.gate, None, piped.lines)
            if can is not None and talk.era == OLD:
                await talk.say("initialize", {"protocolVersion": OLD, "capabilities": can, "clientInfo": {}}, 0)
            yield talk
        return
    gate = Gate()
    server = offer(gate)
    if cell in GATEWAY:
        agent = Agent(server.name, version=server.version, description=server.instructions or "")
        agent.add(server)
        async with gateway_with(agent) as there, connect(there.app) as client:
            era = era_of(cell)
            peer = Peer(client, era)
            yield Talk(cell, server, gate, await peer.session(can) if era == OLD else peer, None)
        return
    async with server.open() as served, connect(served.app) as client:
        peer = Bench(served, client, gate).peer(era_of(cell))
        yield Talk(cell, server, gate, await peer.session(can) if era_of(cell) == OLD else peer, None)
