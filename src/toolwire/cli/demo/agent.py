"""The demo agent: four tools over the demo's working parts, attached over the same link as anybody's agent.

Its first two tools are, to the letter, those of the gateway's contract; what they do is the other modules' matter.
"""

import logging
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Annotated

import anyio.to_thread
import msgspec
from anyio.abc import TaskStatus

from toolwire import __version__
from toolwire.agent import Agent, Ctx, Image, ToolError
from toolwire.cli.demo.keys import DEMO_NAME, DemoKeys
from toolwire.cli.demo.pdf import MAX_PDF_BYTES, text_of
from toolwire.cli.demo.screenshot import draw
from toolwire.cli.demo.search import search
from toolwire.cli.demo.status import Activity, EndedCall, Status
from toolwire.cli.demo.summarize import MAX_TEXT_CHARS, summarize
from toolwire.cli.demo.text import joined
from toolwire.core.errors import ToolwireError

logger = logging.getLogger("toolwire.demo")

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
        agent = Agent(DEMO_NAME, version=__version__, description="Four tools to try a gateway with.")

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

        @agent.tool(
            name="summarize_pdf",
            description="Summarize an attached PDF file by its most telling sentences, sent one by one.",
            idempotent=True,
        )
        async def summarize_file(
            ctx: Ctx, max_sentences: Annotated[int, "Maximum number of sentences to return"] = 3
        ) -> str:
            with self._counted("summarize_pdf"):
                return await _summarized(ctx, await _pdf_text(ctx), max_sentences)

        return agent

    @property
    def answered(self) -> int:
        """How many calls it has answered."""
        return self._status().answered

    async def _summarized(self, ctx: Ctx, text: str, max_sentences: int) -> str:
        with self._counted("summarize"):
            return await _summarized(ctx, text, max_sentences)

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


async def _summarized(ctx: Ctx, text: str, max_sentences: int) -> str:
    chosen: list[str] = []
    async for sentence in summarize(text, max_sentences):
        chosen.append(sentence)
        await ctx.say(sentence)
    return joined(chosen)


async def _pdf_text(ctx: Ctx) -> str:
    """The text of the one file that came along."""
    if len(ctx.attachments) != 1:
        raise ValueError(
            f"{len(ctx.attachments)} files came along; attach one PDF file: upload it by "
            "POST /api/v1/files/presign-upload, then send attachments: [{file_id}]"
        )
    data = await ctx.attachments[0].read(MAX_PDF_BYTES, "application/pdf")
    return await anyio.to_thread.run_sync(text_of, data, MAX_TEXT_CHARS)


@asynccontextmanager
async def attached_demo(url: str, keys: DemoKeys) -> AsyncGenerator[None]:
    """Have the demo agent attached to the gateway at `url` while the block lasts.

    When its owner revokes its key or removes it, it leaves, and the block goes on.

    Raises:
        ToolwireError: the gateway refuses it at the start.
    """
    refused: list[ToolwireError] = []

    async def attach(*, task_status: TaskStatus[None]) -> None:
        has_started = False
        try:
            async with Demo(keys.agent_id, url).agent().connect(url, keys.agent_key, grace_s=GRACE_S):
                has_started = True
                task_status.started()
                await anyio.sleep_forever()
        except ToolwireError as error:
            if has_started:
                logger.warning("the demo agent has left: %s", error.message)
            else:
                refused.append(error)
                task_status.started()

    async with anyio.create_task_group() as tasks:
        await tasks.start(attach)
        if not refused:
            yield
        tasks.cancel_scope.cancel("the host stops")
    if refused:
        raise refused[0]
