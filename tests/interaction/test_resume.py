"""Clients of 2025-11-25 that come back for the rest of a stream: what they are sent, and what others are told.

mcp.md 1.2, resumability; S12, S17.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from tests.interaction.bench import NEW, OLD, SSE_ONLY, Bench, Gate, Peer, body, headers, open_bench
from tests.interaction.cells import notes
from tests.interaction.requirements import proves
from tests.interaction.test_sessions import open_site
from tests.interaction.transport import PATIENCE_S, Answer, connect
from toolwire.surfaces.mcp_http import HttpSettings
from toolwire.surfaces.streams import ResumeLimits

TELLING: dict[str, Any] = {"name": "tell_and_hold", "_meta": {"progressToken": "t"}}
STEPS: dict[str, Any] = {"name": "steps", "arguments": {"count": 5}, "_meta": {"progressToken": 1}}


async def back(peer: Peer, last_id: str, **more: Any) -> Answer:
    """Come back with the id of the last event."""
    sent = headers(peer.era, **{**peer.more, "accept": SSE_ONLY, "last_event_id": last_id, **more})
    return await peer.client.ask("GET", "/mcp", sent)


def steps_of(frames: list[Any]) -> list[int]:
    """How far the progress notifications among frames say that it is."""
    return [frame["params"]["progress"] for frame in frames if "method" in frame]


def text_of(frame: Any) -> str:
    return frame["result"]["content"][0]["text"]


@asynccontextmanager
async def begun(bench: Bench, peer: Peer | None = None) -> AsyncGenerator[tuple[Peer, Answer]]:
    """A client whose call has told of one step and is held."""
    peer = peer or await bench.peer(OLD).session()
    answer = await peer.ask("tools/call", TELLING, "id")
    assert steps_of([await answer.frame()]) == [1]
    yield peer, answer


@proves("resume.primed")
async def test_a_stream_begins_with_an_id_and_when_to_come_back():
    async with open_bench(HttpSettings(resume=ResumeLimits(retry_ms=700))) as bench:
        for accept in ("", SSE_ONLY):
            more = {"accept": accept} if accept else {}
            answer = await bench.peer(OLD, **more).ask("tools/call", STEPS)
            first = await answer.raw_frame()
            assert first is not None
            name, retry, data = first.split("\n")
            assert (name[:4], retry, data) == ("id: ", "retry: 700", "data:")
            assert text_of((await answer.frames())[-1]) == "done"
            assert len({name[4:], *answer.ids}) == 7, "each event has an id of its own"


@proves("resume.primed")
@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "", NEW])
async def test_clients_that_do_not_know_it_get_neither_ids_nor_events_without_data(version: str):
    async with open_bench() as bench:
        peer = bench.peer(NEW) if version == NEW else bench.peer(OLD, mcp_protocol_version=version)
        answer = await peer.ask("tools/call", STEPS)
        while (frame := await answer.raw_frame()) is not None:
            assert frame.startswith("event: message\ndata: {")


@proves("resume.rest")
@pytest.mark.parametrize("in_session", [True, False])
async def test_who_comes_back_while_a_call_goes_on_hears_the_rest(in_session: bool):
    async with open_bench() as bench, begun(bench, None if in_session else bench.peer(OLD)) as (peer, answer):
        answer.leave()
        again = await back(peer, answer.ids[-1])
        assert again.headers["content-type"] == SSE_ONLY
        bench.gate.release.set()
        told, last = await again.frames()
        assert (steps_of([told]), last["id"], text_of(last)) == ([2], "id", "done")
        assert (bench.gate.entered, bench.gate.cancelled) == (1, 0)


@proves("resume.rest")
async def test_what_was_missed_comes_first_from_wherever_one_left():
    async with open_bench() as bench, begun(bench) as (peer, answer):
        primed, step = answer.ids
        for last_id, missed in ((primed, [1]), (step, [])):
            again = await back(peer, last_id)
            assert steps_of([await again.frame() for _ in missed]) == missed
            again.leave()
        bench.gate.release.set()
        assert steps_of(await (await back(peer, primed)).frames()) == [1, 2]


@proves("resume.rest")
async def test_who_comes_back_after_the_end_gets_all_of_it():
    async with open_bench() as bench:
        peer = await bench.peer(OLD).session()
        answer = await peer.ask("tools/call", STEPS, "id")
        *_, last = await answer.frames()
        for number, last_id in enumerate(answer.ids[:6]):
            again = await (await back(peer, last_id)).frames()
            assert steps_of(again) == [1, 2, 3, 4, 5][number:]
            assert again[-1] == last


@proves("resume.rest")
async def test_an_error_is_an_end_like_any_other():
    async with open_bench() as bench:
        peer = await bench.peer(OLD, accept=SSE_ONLY).session()
        answer = await peer.ask("tools/call", {"name": "nothing"})
        [error] = await answer.frames()
        [again] = await (await back(peer, answer.ids[0])).frames()
        assert again == error
        assert error["error"]["code"] == -32602


@proves("resume.rest")
async def test_who_has_all_of_it_need_not_come_back_again():
    async with open_bench() as bench:
        peer = await bench.peer(OLD).session()
        answer = await peer.ask("tools/call", STEPS)
        await answer.frames()
        done = await back(peer, answer.ids[-1])
        assert (done.status, await done.body()) == (204, b"")


@proves("resume.rest")
async def test_nothing_comes_of_a_request_that_its_client_has_cancelled():
    async with open_bench() as bench, begun(bench) as (peer, answer):
        answer.leave()
        again = await back(peer, answer.ids[-1])
        await peer.ask("notifications/cancelled", {"requestId": "id"}, id_=None)
        assert await again.frames() == []
        assert (await back(peer, answer.ids[-1])).status == 204


@proves("resume.rest")
async def test_a_stream_goes_out_in_one_place_at_a_time():
    async with open_bench() as bench, begun(bench) as (peer, answer):
        second = await back(peer, answer.ids[-1])
        assert await answer.frames() == [], "the first ends without an answer"
        third = await back(peer, answer.ids[-1])
        assert await second.frames() == []
        bench.gate.release.set()
        assert text_of((await third.frames())[-1]) == "done"


@proves("resume.rest")
async def test_reading_goes_on_without_its_first_stream_too():
    gate = Gate()
    async with notes(gate).open() as served, connect(served.app) as client:
        peer = await Bench(served, client, gate).peer(OLD).session()
        answer = await peer.ask("resources/read", {"uri": "notes://held", "_meta": {"progressToken": 1}})
        assert steps_of([await answer.frame()]) == [1]
        answer.leave()
        again = await back(peer, answer.ids[0])
        assert steps_of([await again.frame()]) == [1]
        again.leave()
        gate.release.set()
        await gate.until(finished=1)
        told, last = await (await back(peer, answer.ids[0])).frames()
        assert (steps_of([told]), last["result"]["contents"][0]["text"]) == ([1], "let go")


@proves("resume.rest")
async def test_a_repeat_under_a_key_is_answered_on_its_own_stream():
    async with open_bench() as bench, begun(bench) as (peer, _):
        first = peer.start("tools/call", {"name": "hold"}, 1, idempotency_key="order-7", accept=SSE_ONLY)
        await bench.gate.until(entered=2)
        repeat = await peer.ask("tools/call", {"name": "hold"}, 2, idempotency_key="order-7", accept=SSE_ONLY)
        primed = await repeat.raw_frame()
        assert primed is not None
        repeat.leave()
        bench.gate.release.set()
        await first.frames()
        [last] = await (await back(peer, primed.split("\n")[0][4:])).frames()
        assert (last["id"], text_of(last), bench.gate.entered) == (2, "held", 2)


@proves("resume.own")
async def test_an_id_is_good_for_nobody_else():
    async with open_bench() as bench, begun(bench) as (peer, answer):
        good = answer.ids[-1]
        other = await bench.peer(OLD).session()
        for who, id_ in [
            (other, good),
            (bench.peer(OLD), good),
            (peer, good[:-2] + ("AA" if good[-2:] != "AA" else "BB")),
            (peer, "A" + good),
            (peer, good + "="),
            (peer, "1"),
            (peer, "é"),
            (peer, "x" * 5000),
        ]:
            refused = await back(who, id_)
            error = (await refused.json())["error"]
            assert (refused.status, error["code"], error["data"]["code"]) == (400, -32600, "invalid_request"), id_
        bench.gate.release.set()
        assert text_of((await answer.frames())[-1]) == "done"


@proves("resume.own")
async def test_an_id_is_good_for_no_other_principal_and_at_no_other_agent():
    async with open_site() as site:
        answer = await site.post(body("tools/call", STEPS))
        last = (await answer.frames())[-1]

        async def come(who: str, path: str) -> Answer:
            sent = headers(OLD, authorization=who, accept=SSE_ONLY, last_event_id=answer.ids[0])
            return await site.client.ask("GET", path, sent)

        assert [(await come(*other)).status for other in (("bob", "/a/mcp"), ("alice", "/b/mcp"))] == [400, 400]
        assert (await (await come("alice", "/a/mcp")).frames())[-1] == last


@proves("resume.own")
async def test_an_id_ends_with_its_session():
    async with open_bench() as bench, begun(bench) as (peer, answer):
        await bench.client.ask("DELETE", "/mcp", headers(OLD, **peer.more))
        assert (await back(peer, answer.ids[-1])).status == 404


@proves("resume.bounded")
@pytest.mark.virtual_time
async def test_who_comes_back_too_late_is_told_so_at_once():
    async with open_bench(HttpSettings(resume=ResumeLimits(kept_s=60)), patience_s=100) as bench:
        peer = await bench.peer(OLD).session()
        answer = await peer.ask("tools/call", STEPS, "id")
        await answer.frames()
        await anyio.sleep(59)
        assert text_of((await (await back(peer, answer.ids[0])).frames())[-1]) == "done"
        await anyio.sleep(2)
        [told] = await (await back(peer, answer.ids[0])).frames()
        assert (told["id"], told["error"]["data"]["code"]) == ("id", "outcome_unknown")


@proves("resume.bounded")
@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        (ResumeLimits(max_streams=2), [False] * 4 + [True] * 2),
        (ResumeLimits(max_bytes=3000), [False] * 2 + [True] * 4),
        (ResumeLimits(max_bytes=400), [False] * 6),
    ],
)
async def test_what_is_kept_of_the_past_is_bounded(limits: ResumeLimits, kept: list[bool]):
    async with open_bench(HttpSettings(resume=limits)) as bench:
        peer = await bench.peer(OLD).session()
        answers = [await peer.ask("tools/call", STEPS) for _ in kept]
        for answer in answers:
            await answer.frames()
        later = [(await (await back(peer, answer.ids[0])).frames())[-1] for answer in answers]
        assert ["result" in last for last in later] == kept


@proves("resume.bounded")
async def test_who_has_missed_more_than_is_kept_hears_how_much():
    async with open_bench() as bench:
        peer = await bench.peer(OLD).session()
        params = {**STEPS, "arguments": {"count": 300}}
        answer = peer.start("tools/call", params)
        await answer.started.wait()
        primed = await answer.raw_frame()
        assert primed is not None
        await answer.frames()
        again = await back(peer, primed.split("\n")[0][4:])
        comment, *told, last = await again.frames()
        assert comment == ": 45 events are not kept any more"
        assert steps_of(told) == list(range(46, 301))
        assert text_of(last) == "done"


@proves("sse.silence")
@pytest.mark.virtual_time
async def test_a_stream_that_is_gone_on_with_is_kept_alive():
    async with open_bench(HttpSettings(sse_keepalive_s=2), patience_s=100) as bench, begun(bench) as (peer, answer):
        answer.leave()
        again = await back(peer, answer.ids[-1])
        assert [await again.frame() for _ in range(3)] == [": ping"] * 3
        bench.gate.release.set()
        assert text_of((await again.frames())[-1]) == "done"


@proves("stop.answered")
async def test_a_stream_that_is_gone_on_with_ends_when_the_server_stops():
    async with open_bench() as bench, begun(bench) as (peer, answer):
        answer.leave()
        again = await back(peer, answer.ids[-1])
        answer.cut()
        [last] = await again.frames()
        assert last["error"]["data"]["code"] == "agent_service_unavailable"
        with anyio.fail_after(PATIENCE_S):
            await again.ended.wait()
