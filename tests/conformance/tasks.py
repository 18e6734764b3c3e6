"""The tools of the everything-server whose calls are tasks, with the names that the suite fixes (mcp.md 2.2, Tasks)."""

from dataclasses import dataclass

import anyio

from toolwire import Server
from toolwire.sdk import ToolContext, ToolError
from toolwire.sdk.asking import AskForm

jobs = Server("jobs")


@dataclass
class Confirmation:
    """A yes or a no."""

    confirm: bool


@dataclass
class Person:
    """Who it is."""

    name: str


@jobs.tool
async def greet(name: str) -> str:
    """Greet, without a task."""
    return f"Hello, {name}!"


@jobs.tool(task="optional")
async def slow_compute(seconds: float, label: str, ctx: ToolContext) -> str:
    """Take as long as it is told to."""
    await ctx.progress(f"Computing {label}")
    await anyio.sleep(seconds)
    return f"{label} took {seconds} s"


@jobs.tool(task="required")
async def failing_job() -> str:
    """Fail after a second."""
    await anyio.sleep(1)
    raise ToolError("The job failed")


@jobs.tool(task="required")
async def protocol_error_job(ctx: ToolContext) -> str:
    """End with an error of the protocol: it needs what no client has."""
    ctx.require_client("miracles")
    return "A miracle"


@jobs.tool(task="optional")
async def confirm_delete(filename: str, ctx: ToolContext) -> str:
    """Delete a file if a person agrees."""
    answer = await ctx.elicit(f"Delete {filename}?", Confirmation)
    agreed = answer.content is not None and answer.content.confirm
    return f"Deleted {filename}" if agreed else f"Kept {filename}"


@jobs.tool(task="optional")
async def multi_input(ctx: ToolContext) -> str:
    """Ask two things at once."""
    asks = {"first": AskForm("What is your name?", Person), "second": AskForm("And mine?", Person)}
    answers = await ctx.ask_all(asks)
    return " and ".join(str(answer.content) for answer in answers.values())


@jobs.tool(task="later")
async def test_tool_with_task(ctx: ToolContext) -> str:
    """Ask for a name, then greet in a task."""
    answer = await ctx.elicit("What is your name?", Person, key="user_name")
    await ctx.become_task()
    await ctx.progress("Greeting")
    await anyio.sleep(0.3)
    return f"Hello, {answer.content.name if answer.content else 'stranger'}!"
