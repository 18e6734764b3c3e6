from dataclasses import dataclass
from typing import Annotated, Literal

from toolwire import Server
from toolwire.sdk import AskForm, AskRoots, ToolContext

server = Server("trips", "1.0.0")
BOOKED: list[str] = []


@dataclass
class Trip:
    to: Annotated[str, "Where to"]
    seat: Literal["window", "aisle"] = "window"
    nights: int | None = None


@server.tool
async def book(ctx: ToolContext) -> str:
    """Book a trip that the person behind the client describes."""
    said = await ctx.elicit("Where would you like to go?", Trip)
    if not said.content:
        return "Nothing was booked."
    BOOKED.append(said.content.to)
    return f"Booked: {said.content.to}, {said.content.seat} seat."


@server.tool
async def describe(place: str, ctx: ToolContext) -> str:
    """Describe a place, with the words of the client's own model."""
    said = await ctx.sample(f"Describe {place} in one sentence.", 200, system="You write travel guides.")
    return said.text


@server.tool
async def pay(ctx: ToolContext) -> str:
    """Send the person to a page, because card numbers must not pass through a client."""
    visit = await ctx.elicit_url("Please pay for your trip.", "https://pay.example.com/trips/7")
    return "Thank you." if visit.accepted else "Not paid."


@server.tool
async def pack(ctx: ToolContext) -> str:
    """Ask for two things at once."""
    answers = await ctx.ask_all({"trip": AskForm("Which trip?", Trip), "folders": AskRoots()})
    folders = [root.uri for root in answers["folders"]]
    return f"{answers['trip'].content.to}: tickets go to {folders}"


@server.tool
def quick(ctx: ToolContext) -> str:
    """Ask from a plain function, and only if there is somebody to ask."""
    if not ctx.client_can("elicitation"):
        return "Paris, as always."
    said = ctx.wait(ctx.elicit("Where to?", Trip))
    return said.content.to if said.content else "Nowhere."
