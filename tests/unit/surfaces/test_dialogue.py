"""Requests of ours on the initialize wire, and the responses (MCP 2025-11-25 basic/transports; mcp.md 1.2)."""

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from toolwire.core.asking import NobodyToAsk, Question
from toolwire.core.errors import Cancelled, PageRequired
from toolwire.core.jsontypes import JsonObject
from toolwire.engine.asking import Asking
from toolwire.surfaces.dialogue import Dialogue
from toolwire.wire.jsonrpc import Posted

pytestmark = pytest.mark.both_backends

PEER = ("session", "alice")
ROOTS = Question("where", "roots/list", {})
PAGE = Question("page", "elicitation/create", {"mode": "url", "message": "Go", "url": "https://example.com"})


class Stream:
    """A client's stream; `done` counts the requests for whose responses nobody waits any more."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.done = 0
        self.news = anyio.Event()

    def request(self, body: bytes) -> Callable[[], None]:
        self.sent.append(json.loads(body))
        self.news.set()
        return self._end

    def _end(self) -> None:
        self.done += 1


def fits(question: Question, answer: JsonObject) -> None:
    """Everything fits."""


def opened() -> tuple[Dialogue, Asking, Stream]:
    dialogue, asking, stream = Dialogue(), Asking({"roots": {}}, 10.0), Stream()
    asking.way = dialogue.way(PEER, asking, stream.request)
    return dialogue, asking, stream


async def test_nothing_is_kept_of_a_question_that_is_answered():
    dialogue, asking, stream = opened()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(asking.ask, [ROOTS], fits)
            await stream.news.wait()
            [request] = stream.sent
            assert (request["method"], "params" in request, len(dialogue)) == ("roots/list", False, 1)
            for posted, peer in [
                (Posted(request["id"], {}), ("other", "alice")),
                (Posted(request["id"], {}), ("session", "bob")),
                (Posted(7, {}), PEER),
            ]:
                dialogue.take(posted, peer)
            assert asking.questions == (ROOTS,)
            dialogue.take(Posted(request["id"], {"roots": []}), PEER)
    assert (len(dialogue), stream.done, asking.given) == (0, 1, {"where": {"roots": []}})


async def test_a_question_that_went_out_on_two_streams_is_answered_once():
    dialogue, asking, first = opened()
    second = Stream()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(asking.ask, [ROOTS], fits)
            await first.news.wait()
            asking.way = dialogue.way(PEER, asking, second.request)
            asking.way.ask(asking.questions)
            assert len(dialogue) == 2
            dialogue.take(Posted(second.sent[0]["id"], {"roots": []}), PEER)
    assert (len(dialogue), first.done, second.done) == (0, 1, 1)


async def test_a_question_on_two_streams_is_withdrawn_from_both():
    dialogue, asking, first = opened()
    second = Stream()
    with anyio.fail_after(5), pytest.RaisesGroup(Cancelled):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(asking.ask, [ROOTS], fits)
            await first.news.wait()
            asking.way = dialogue.way(PEER, asking, second.request)
            asking.way.ask(asking.questions)
            asking.fail_all(lambda: Cancelled("over"))
    withdrawn = [message["params"]["requestId"] for message in second.sent if "id" not in message]
    assert withdrawn == [first.sent[0]["id"], second.sent[0]["id"]]
    assert (len(dialogue), first.done) == (0, 1)


async def test_without_a_stream_a_page_is_told_by_the_error_and_the_rest_not_at_all():
    asking = Asking({}, 10.0)
    asking.way = Dialogue().way(PEER, asking, None)
    with pytest.raises(PageRequired) as required:
        await asking.ask([PAGE], fits)
    [page] = required.value.data["elicitations"]
    assert page.pop("elicitationId").startswith("ask_")
    assert page == PAGE.params
    with pytest.raises(NobodyToAsk, match="text/event-stream"):
        await asking.ask([ROOTS], fits)
    asking.complete("page")
