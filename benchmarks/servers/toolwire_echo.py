"""The echo tool for `toolwire tools serve`."""

from toolwire.sdk import tool


@tool
async def echo(text: str) -> str:
    """Return the text."""
    return text
