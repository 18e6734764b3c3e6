"""A session's own stream that breaks and is opened again: what has changed meanwhile (mcp.md 1.2; S17)."""

from typing import Any

import anyio
import pytest

from tests.interaction.bench import OLD, SSE_ONLY, headers
from tests.interaction.cells import Talk, talking
from tests.interaction.requirements import HTTP_2025, proves
from tests.interaction.transport import Answer
from toolwire.server import ListChanged, ResourceUpdated
from toolwire.surfaces.changes import KEPT_CHANGES


async def stream(talk: Talk, last_id: str = "", **more: Any) -> Answer:
    """Open the stream of the session, and read how it begins."""
    assert talk.peer is not None
    sent = headers(OLD, accept=SSE_ONLY, last_event_id=last_id, **{**talk.peer.more, **more})
    return await talk.peer.client.ask("GET", "/mcp", sent)


def told(frames: list[Any]) -> list[str]:
    """What frames tell of, in short."""
    return [frame["params"]["uri"] if frame.get("params") else frame["method"].split("/")[1] for frame in frames]


async def next_of(answer: Answer, count: int) -> list[str]:
    return told([await answer.frame() for _ in range(count)])


async def primed(answer: Answer) -> str:
    """The id with which a stream begins."""
    frame = await answer.raw_frame()
    assert frame is not None
    assert frame.endswith("\nretry: 1000\ndata:")
    return frame.split("\n")[0].removeprefix("id: ")


@proves("resume.primed")
async def test_the_stream_of_a_session_begins_with_an_id_for_clients_that_know_it():
    async with talking(HTTP_2025, can={}) as talk:
        assert await primed(await stream(talk))
        old = await stream(talk, mcp_protocol_version="2025-06-18")
        talk.server.tell(ListChanged("tools"))
        frame = await old.raw_frame()
        assert frame is not None
        assert frame.startswith("event: message\ndata: {")


@proves("resume.changes")
async def test_who_opens_its_stream_again_is_told_what_has_changed_meanwhile():
    async with talking(HTTP_2025, can={}) as talk:
        await talk.say("resources/subscribe", {"uri": "notes://all"})
        first = await stream(talk)
        talk.server.tell(ListChanged("prompts"))
        assert await next_of(first, 1) == ["prompts"]
        first.leave()
        talk.server.tell(ListChanged("tools"))
        talk.server.tell(ResourceUpdated("notes://other"))
        talk.server.tell(ResourceUpdated("notes://all"))
        second = await stream(talk, first.ids[-1])
        assert await next_of(second, 2) == ["tools", "notes://all"]
        talk.server.tell(ListChanged("resources"))
        assert await next_of(second, 1) == ["resources"]
        third = await stream(talk, second.ids[-2])
        assert await next_of(third, 1) == ["resources"]
        assert await second.frames() == [], "there is one stream a session"


@proves("resume.changes")
async def test_where_it_is_not_known_what_has_changed_all_of_it_may_have():
    async with talking(HTTP_2025, can={}) as talk:
        await talk.say("resources/subscribe", {"uri": "notes://all"})
        first = await stream(talk)
        id_ = await primed(first)
        first.leave()
        for _ in range(KEPT_CHANGES + 1):
            talk.server.tell(ResourceUpdated("notes://other"))
        second = await stream(talk, id_)
        assert await second.frame() == ": what has changed meanwhile is not known any more; all of it may have"
        assert await next_of(second, 4) == ["tools", "prompts", "resources", "notes://all"]


@proves("resume.changes")
async def test_who_opens_a_new_stream_hears_of_nothing_that_was_before():
    async with talking(HTTP_2025, can={}) as talk:
        talk.server.tell(ListChanged("tools"))
        answer = await stream(talk)
        talk.server.tell(ListChanged("prompts"))
        assert await next_of(answer, 1) == ["prompts"]


@proves("resume.own")
async def test_the_stream_of_a_session_is_good_for_no_other():
    async with talking(HTTP_2025, can={}) as mine, talking(HTTP_2025, can={}) as other:
        id_ = await primed(await stream(mine))
        refused = await stream(other, id_)
        assert (refused.status, (await refused.json())["error"]["code"]) == (400, -32600)


@proves("sse.silence", HTTP_2025)
@pytest.mark.virtual_time
async def test_the_stream_of_a_session_is_kept_alive():
    async with talking(HTTP_2025, can={}) as talk:
        answer = await stream(talk)
        begun = anyio.current_time()
        answer.patience_s = 100
        for seconds in (15, 30, 45):
            assert await answer.frame() == ": ping"
            assert round(anyio.current_time() - begun) == seconds
