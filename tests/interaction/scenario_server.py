"""What the scenario's clients talk to, as an author writes it; `toolwire tools serve` serves it."""

from base64 import b64decode

import anyio

from toolwire import Server
from toolwire.sdk import Image, ToolContext, ToolError, tool

PNG = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC")

server = Server("scenario", "1.0.0", instructions="Follow the steps.")
gone, cancelled = anyio.create_memory_object_stream[str](100)


@server.tool
async def echo(text: str) -> str:
    """Say it again."""
    return text


@server.tool
async def add(a: int, b: int = 1) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


@server.tool
async def steps(ctx: ToolContext, count: int = 3) -> str:
    """Tell how far it is, step by step."""
    for done in range(1, count + 1):
        await ctx.progress(f"step {done}", done, count)
        await anyio.sleep(0.02)
    return "done"


@server.tool
async def fail() -> str:
    """Fail with words for the model."""
    raise ToolError("it does not work")


@server.tool
async def picture() -> Image:
    """Draw one pixel."""
    return Image(PNG, "image/png")


@server.tool
async def log(ctx: ToolContext) -> str:
    """Log at three levels."""
    ctx.log.debug("fine")
    ctx.log.info("noted")
    ctx.log.error("bad")
    await anyio.sleep(0.02)
    return "logged"


@server.tool
async def grow() -> str:
    """Add a tool to this server."""

    @tool
    async def grown() -> str:
        """Be new."""
        return "new"

    if all(known.name != "grown" for known in server.tools):
        server.add(grown)
    return "grew"


@server.tool
async def ask_name(ctx: ToolContext) -> str:
    """Ask the person for a name."""
    form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    answer = await ctx.elicit("Who are you?", form)
    return f"{answer.action}: {(answer.content or {}).get('name')}"


@server.tool
async def ask_model(ctx: ToolContext) -> str:
    """Ask the client's model."""
    said = await ctx.sample("What is the tide?", 50)
    return f"{said.model}: {said.text}"


@server.tool
async def hold(ctx: ToolContext) -> str:
    """Tell once how far it is, then wait until it is cancelled."""
    await ctx.progress("begun", 1, 2)
    try:
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        gone.send_nowait("hold")
        raise
    return "never"


@server.tool
async def was_cancelled() -> bool:
    """Tell whether a call of `hold` was cancelled, and forget it."""
    with anyio.move_on_after(5):
        await cancelled.receive()
        return True
    return False


@server.resource("scenario://about", mime_type="text/plain")
async def about() -> str:
    """What this is."""
    return "A scenario."


@server.resource("scenario://pixel", mime_type="image/png")
async def pixel() -> bytes:
    """One pixel."""
    return PNG


@server.resource("scenario://{number}/square", mime_type="text/plain")
async def square(number: int) -> str:
    """A number squared."""
    return str(number * number)


@server.prompt
async def greet(name: str, tone: str = "warm") -> str:
    """Greet somebody.

    Args:
        name: whom.
        tone: how.
    """
    return f"Greet {name}, {tone}."


@server.complete("greet", "name")
async def names(value: str) -> list[str]:
    return [name for name in ("Ada", "Alan", "Grace") if name.startswith(value)]
