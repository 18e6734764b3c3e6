"""The card of the first workspace: a library that agents search and read; what it knows, the package brings along."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

import anyio
import anyio.to_thread

from toolwire import __version__
from toolwire.card import Card, ToolCall, ToolResult, tool_image, tool_text
from toolwire.cli.demo.screenshot import draw
from toolwire.cli.demo.search import DEFAULT_RESULTS, corpus_index, query_terms, search
from toolwire.cli.demo.status import Activity, EndedCall, Status
from toolwire.cli.demo.text import sentences

PACE_S: Final = 0.7
"""How long a sentence takes."""

card = Card()
activity = Activity()
started_at = time.time()


@contextmanager
def counted(tool: str) -> Generator[None]:
    """Count a call when it ends."""
    began, ok = time.monotonic(), False
    try:
        yield
        ok = True
    finally:
        activity.record(EndedCall(tool, time.time(), time.monotonic() - began, ok))


@card.tools.handle("search")
async def search_articles(arguments: dict[str, Any], call: ToolCall) -> str:
    """The best articles for a query."""
    with counted("search"):
        call.progress(f"looking through {len(corpus_index())} articles")
        return search(arguments["query"], arguments.get("max_results", DEFAULT_RESULTS))


@card.tools.handle("read")
async def read_article(arguments: dict[str, Any], call: ToolCall) -> ToolResult | None:
    """The best article for a question, a sentence at a time, for as long as somebody wants it."""
    with counted("read"):
        hits = corpus_index().rank(query_terms(arguments["query"]), 1)
        if not hits:
            return tool_text(f"No article answers {arguments['query']!r}. Try other words.")
        article = hits[0].article
        parts = sentences(article.text)
        for number, sentence in enumerate(parts, 1):
            if call.cancelled:
                return None
            call.progress(f"{number}/{len(parts)} {sentence}")
            await anyio.sleep(PACE_S)
        return tool_text(f"{article.title}\n{article.url}\n\n{article.text}")


@card.tools.handle("picture")
async def draw_desk(arguments: dict[str, Any], call: ToolCall) -> ToolResult:
    """What was asked lately."""
    with counted("picture"):
        blank = Status("library", __version__, call.card.id, "the canvas", time.time(), started_at)
        drawn = await anyio.to_thread.run_sync(draw, activity.status(blank))
        return tool_image(drawn, "image/png", "What the library was asked lately")


if __name__ == "__main__":
    card.run()
