"""The demo agent: three tools over the demo's working parts, attached over the same link as anybody's agent.

Its first two tools are, to the letter, those of the gateway's contract; what they do is the other modules' matter.
"""

import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Annotated

import anyio.to_thread
import msgspec

from toolwire import __version__
from toolwire.agent import Agent, Ctx, Image, ToolError
from toolwire.cli.demo.keys import DEMO_NAME, DemoKeys
from toolwire.cli.demo.screenshot import draw
from toolwire.cli.demo.search import search
from toolwire.cli.demo.status import Activity, EndedCall, Status
from toolwire.cli.demo.summarize import summarize
from toolwire.cli.demo.text import joined

GRACE_S = 2.0


class Demo:
    """The agent and what it knows of itself.

    Args:
        agent_id: its id at the gateway.
        gateway_url: where it is attached.
    """

    def __init__(self, agent_id: str, gateway_url: str) -> None:
        self._activity = Activity()
        now = time.time()
        self._base = Status(DEMO_NAME, __version__, agent_id, gateway_url, now, now)

    def agent(self) -> Agent:
        """Its tools under its name."""
        agent = Agent(DEMO_NAME, version=__version__, description="Three tools to try a gateway with.")

        @agent.tool(description="Search the web for current information on any topic.", idempotent=True)
        async def web_search(
            query: Annotated[str, "The search query"],
            max_results: Annotated[int, "Maximum number of results to return"] = 5,
        ) -> str:
            with self._counted("web_search"):
                return search(query, max_results)  # a few milliseconds at worst, so no thread

        @agent.tool(description="Take a screenshot of the current browser or desktop view.", idempotent=True)
        async def screenshot() -> Image:
            with self._counted("screenshot"):
                return Image(await anyio.to_thread.run_sync(draw, self._status()), "image/png")

        @agent.tool(
            name="summarize",
            description="Summarize a text by its most telling sentences, sent one by one as they are chosen.",
            idempotent=True,
        )
        async def summarize_text(
            ctx: Ctx,
            text: Annotated[str, "The text to summarize"],
            max_sentences: Annotated[int, "Maximum number of sentences to return"] = 3,
        ) -> str:
            return await self._summarized(ctx, text, max_sentences)

        return agent

    async def _summarized(self, ctx: Ctx, text: str, max_sentences: int) -> str:
        with self._counted("summarize"):
            chosen: list[str] = []
            async for sentence in summarize(text, max_sentences):
                chosen.append(sentence)
                await ctx.say(sentence)
            return joined(chosen)

    @contextmanager
    def _counted(self, tool: str) -> Generator[None]:
        """Count a call when it ends; what the working parts refuse becomes an error that a model may read."""
        began = time.monotonic()
        ok = False
        try:
            yield
            ok = True
        except ValueError as error:
            raise ToolError(str(error)) from None
        finally:
            self._activity.record(EndedCall(tool, time.time(), time.monotonic() - began, ok))

    def _status(self) -> Status:
        return self._activity.status(msgspec.structs.replace(self._base, now=time.time()))


@asynccontextmanager
async def attached_demo(url: str, keys: DemoKeys) -> AsyncGenerator[None]:
    """Have the demo agent attached to the gateway at `url` while the block lasts.

    Raises:
        ToolwireError: the gateway refuses it.
    """
    async with Demo(keys.agent_id, url).agent().connect(url, keys.agent_key, grace_s=GRACE_S):
        yield
