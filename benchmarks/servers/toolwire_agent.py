"""The echo tool in an agent process, for `toolwire agent run`."""

from toolwire.agent import Agent

agent = Agent("bench")


@agent.tool
async def echo(text: str) -> str:
    """Return the text."""
    return text
