from typing import Literal

from toolwire import Server
from toolwire.agent import Agent, Ctx
from toolwire.server import ResourceUpdated

agent = Agent("notes", description="Keeps notes.")
NOTES = {"1": "Buy bread.", "2": "Call Ada."}


@agent.tool
async def add_note(text: str, ctx: Ctx) -> str:
    """Write a note down and return its number."""
    number = str(len(NOTES) + 1)
    NOTES[number] = text
    ctx.log.info("note %s was written", number)
    agent.tell(ResourceUpdated("notes://index"))
    return number


@agent.resource("notes://index")
def index() -> dict[str, str]:
    """The first words of every note."""
    return {number: text[:20] for number, text in NOTES.items()}


@agent.resource("notes://{number}")
def note(number: str) -> str | None:
    """One note."""
    return NOTES.get(number)


@agent.complete("notes://{number}", "number")
def numbers(value: str) -> list[str]:
    return [number for number in NOTES if number.startswith(value)]


@agent.prompt
def summary(style: Literal["short", "long"] = "short") -> str:
    """Sum all notes up."""
    return f"Give me a {style} summary of these notes:\n" + "\n".join(NOTES.values())


clock = Server("clock")


@clock.resource("clock://zone")
def zone() -> str:
    """The time zone of the notes."""
    return "UTC"


agent.add(clock)
