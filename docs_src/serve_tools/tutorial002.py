from typing import Literal

from toolwire import Server
from toolwire.sdk import ToolContext

server = Server("notes", "1.0.0", instructions="Read notes://index before you look for a note.")
NOTES = {"1": "Buy bread.", "2": "Call Ada."}


@server.tool
async def add_note(text: str, ctx: ToolContext) -> str:
    """Write a note down and return its number."""
    number = str(len(NOTES) + 1)
    NOTES[number] = text
    ctx.log.info("note %s was written", number)
    return number


@server.resource("notes://index")
def index() -> dict[str, str]:
    """The first words of every note."""
    return {number: text[:20] for number, text in NOTES.items()}


@server.resource("notes://{number}")
def note(number: str) -> str | None:
    """One note."""
    return NOTES.get(number)


@server.complete("notes://{number}", "number")
def numbers(value: str) -> list[str]:
    return [number for number in NOTES if number.startswith(value)]


@server.prompt
def summary(style: Literal["short", "long"] = "short") -> str:
    """Sum all notes up.

    Args:
        style: how long it shall be.
    """
    return f"Give me a {style} summary of these notes:\n" + "\n".join(NOTES.values())
