"""The echo tool for `toolwire tools serve`, and the same tool with a pause in it."""

import asyncio

from toolwire.sdk import tool


@tool
async def echo(text: str) -> str:
    """Return the text."""
    return text


@tool
async def echo_waiting(text: str) -> str:
    """Return the text after the event loop's next turn."""
    await asyncio.sleep(0)
    return text
