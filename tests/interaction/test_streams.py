"""When an answer is JSON and when it is a stream, and what goes out on a stream before the result (gateway.md D20)."""

from typing import Any

import anyio
import pytest

from tests.interaction.bench import BOTH, ERAS, JSON_ONLY, NEW, OLD, SSE_ONLY, open_bench
from tests.interaction.requirements import HTTP_2025, HTTP_2026, proves
from toolwire.surfaces.exchange import BUFFERED_FRAMES
from toolwire.surfaces.mcp_http import HttpSettings

JSON, SSE = "application/json", "text/event-stream"


def told(name: str, token: Any = "token", **arguments: Any) -> dict[str, Any]:
    """Parameters of a call that asks for progress."""
    return {"name": name, "arguments": arguments, "_meta": {"progressToken": token}}


def progress(token: Any, *steps: tuple[float, float, str]) -> list[Any]:
    return [
        {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": token, "progress": done, "total": total, "message": message},
        }
        for done, total, message in steps
    ]


@proves("sse.choice")
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("accept", "plain", "with_progress"),
    [
        ("", JSON, JSON),
        ("*/*", JSON, JSON),
        (JSON_ONLY, JSON, JSON),
        ("application/*", JSON, JSON),
        ("application/json, text/event-stream;q=0", JSON, JSON),
        ("application/json, text/*, text/event-stream;q=0", JSON, JSON),
        (BOTH, JSON, SSE),
        ("text/event-stream, */*", JSON, SSE),
        ("TEXT/EVENT-STREAM;q=0.9, Application/JSON;q=0.1", JSON, SSE),
        (SSE_ONLY, SSE, SSE),
        ("text/event-stream, application/json;q=0, */*", SSE, SSE),
        ("text/html, text/event-stream", SSE, SSE),
    ],
)
async def test_an_answer_is_a_stream_only_where_accept_names_it(era: str, accept: str, plain: str, with_progress: str):
    async with open_bench() as bench:
        peer = bench.peer(era, accept=accept)
        for params, form in [(told("echo", None, text="hi"), plain), (told("steps"), with_progress)]:
            answer = await peer.ask("tools/call", params)
            assert answer.headers["content-type"] == form, params
            last = await answer.json() if form == JSON else (await answer.frames())[-1]
            assert last["id"] == 1
            assert "result" in last
        listed = await peer.ask("tools/list")
        assert listed.headers["content-type"] == plain
        assert len((await listed.message())["result"]["tools"]) == 10


@proves("sse.choice")
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_takes_streams_alone_gets_one_at_once(era: str):
    async with open_bench() as bench:
        answer = await bench.peer(era, accept=SSE_ONLY).ask("tools/call", {"name": "hold"})
        assert bench.gate.finished == 0
        bench.gate.release.set()
        [message] = await answer.frames()
        assert message["result"]["content"][0]["text"] == "held"


@proves("sse.choice", HTTP_2025)
async def test_initialize_gives_its_session_on_a_stream_too():
    async with open_bench() as bench:
        peer = bench.peer(OLD, accept=SSE_ONLY)
        answer = await peer.ask("initialize", {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {}})
        assert answer.headers["content-type"] == SSE
        session = answer.headers["mcp-session-id"]
        assert (await answer.message())["result"]["protocolVersion"] == OLD
        assert "result" in await peer.call("echo", {"text": "hi"}, mcp_session_id=session)


@proves("sse.headers")
@pytest.mark.parametrize("era", ERAS)
async def test_a_stream_is_neither_cached_nor_held_back(era: str):
    async with open_bench() as bench:
        answer = await bench.peer(era).ask("tools/call", told("steps"))
        assert answer.headers == {
            "content-type": SSE,
            "cache-control": "no-cache, no-transform",
            "x-accel-buffering": "no",
        }


@proves("progress.told", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("token", ["token", "", 0, 7, "8", 2**63])
async def test_progress_goes_before_the_result_with_the_token_as_it_came(era: str, token: Any):
    async with open_bench() as bench:
        answer = await bench.peer(era).ask("tools/call", told("steps", token, count=3), "id")
        *before, last = await answer.frames()
        assert before == progress(token, (1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3"))
        assert (last["id"], last["result"]["content"]) == ("id", [{"type": "text", "text": "done"}])


@proves("progress.told", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_progress_is_there_while_the_tool_works(era: str):
    async with open_bench() as bench:
        answer = await bench.peer(era).ask("tools/call", told("tell_and_hold"))
        assert [await answer.frame()] == progress("token", (1, 2, "begun"))
        assert bench.gate.finished == 0
        bench.gate.release.set()
        assert [await answer.frame()] == progress("token", (2, 2, "ended"))
        assert "result" in await answer.frame()
        assert await answer.frame() is None


@proves("progress.told", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_each_of_two_calls_at_once_hears_of_itself_alone(era: str):
    async with open_bench() as bench:
        one = await bench.peer(era).ask("tools/call", told("tell_and_hold", "one"), 1)
        two = await bench.peer(era).ask("tools/call", told("tell_and_hold", "two"), 1)
        bench.gate.release.set()
        for answer, token in ((one, "one"), (two, "two")):
            *before, _ = await answer.frames()
            assert before == progress(token, (1, 2, "begun"), (2, 2, "ended"))


@proves("progress.asked", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_without_a_token_there_is_no_progress(era: str):
    async with open_bench() as bench:
        answer = await bench.peer(era).ask("tools/call", {"name": "steps"})
        assert (await answer.json())["result"]["content"][0]["text"] == "done"
        streamed = await bench.peer(era, accept=SSE_ONLY).ask("tools/call", {"name": "steps"})
        assert len(await streamed.frames()) == 1


@proves("progress.asked", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_takes_json_alone_gets_the_result_alone(era: str):
    async with open_bench() as bench:
        answer = await bench.peer(era, accept=JSON_ONLY).ask("tools/call", told("steps"))
        assert (await answer.json())["result"]["content"][0]["text"] == "done"


@proves("sse.silence")
@pytest.mark.virtual_time
@pytest.mark.parametrize("era", ERAS)
async def test_after_a_silence_a_stream_begins_and_stays_alive(era: str):
    async with open_bench(patience_s=100) as bench:
        answer = bench.peer(era).start("tools/call", {"name": "hold"})
        begun = anyio.current_time()
        await anyio.sleep(14)
        assert not answer.started.is_set()
        await answer.started.wait()
        for seconds in (15, 30, 45):
            assert await answer.frame() == ": ping"
            assert round(anyio.current_time() - begun) == seconds
        bench.gate.release.set()
        [message] = await answer.frames()
        assert message["result"]["content"][0]["text"] == "held"


@proves("sse.silence")
@pytest.mark.virtual_time
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_takes_json_alone_waits_in_silence(era: str):
    async with open_bench(patience_s=100) as bench:
        answer = bench.peer(era, accept=JSON_ONLY).start("tools/call", {"name": "hold"})
        await anyio.sleep(50)
        assert not answer.started.is_set()
        bench.gate.release.set()
        await answer.started.wait()
        assert (await answer.json())["result"]["content"][0]["text"] == "held"


@proves("sse.silence")
@pytest.mark.virtual_time
@pytest.mark.parametrize("era", ERAS)
async def test_a_stream_that_has_begun_is_kept_alive_too(era: str):
    async with open_bench(HttpSettings(sse_keepalive_s=2), patience_s=100) as bench:
        answer = await bench.peer(era).ask("tools/call", told("tell_and_hold"))
        assert [await answer.frame()] == progress("token", (1, 2, "begun"))
        assert [await answer.frame() for _ in range(3)] == [": ping"] * 3
        bench.gate.release.set()
        assert (await answer.frames())[-1]["result"]["content"][0]["text"] == "done"


@proves("sse.silence")
@pytest.mark.virtual_time
@pytest.mark.parametrize("era", ERAS)
async def test_an_answer_that_is_over_leaves_no_timer_behind(era: str):
    async with open_bench(HttpSettings(sse_keepalive_s=2), patience_s=100) as bench:
        answer = bench.peer(era).start("tools/call", {"name": "hold"})
        await anyio.sleep(1)
        bench.gate.release.set()
        await answer.started.wait()
        assert answer.headers["content-type"] == JSON
        await anyio.sleep(10)  # a comment now would be a second answer, which the transport does not let pass
        assert "result" in await answer.json()


@proves("sse.status", HTTP_2026)
async def test_an_error_before_the_first_event_keeps_its_status():
    async with open_bench() as bench:
        answer = await bench.peer(NEW).ask("tools/call", told("nothing"))
        assert (answer.status, (await answer.json())["error"]["code"]) == (400, -32602)
        unknown = await bench.peer(NEW, accept=SSE_ONLY).ask("tools/call", told("nothing"))
        assert unknown.status == 200
        assert (await unknown.message())["error"]["code"] == -32602


@proves("sse.status")
@pytest.mark.parametrize("era", ERAS)
async def test_what_is_refused_before_its_method_is_json_for_everybody(era: str):
    async with open_bench() as bench:
        answer = await bench.client.ask("POST", "/mcp", {"content-type": JSON, "accept": SSE_ONLY}, b"[]")
        assert (answer.status, answer.headers["content-type"]) == (400, JSON)


@proves("sse.slow-reader")
@pytest.mark.parametrize("era", ERAS)
async def test_a_slow_reader_misses_progress_and_never_the_result(era: str):
    async with open_bench() as bench:
        answer = bench.peer(era).start("tools/call", told("steps", count=10 * BUFFERED_FRAMES))
        answer.stop_reading()
        await anyio.wait_all_tasks_blocked()
        answer.go_on_reading()
        await answer.started.wait()
        *before, last = await answer.frames()
        assert last["result"]["content"][0]["text"] == "done"
        values = [frame["params"]["progress"] for frame in before]
        assert values == sorted(set(values))
        assert values[-1] == 10 * BUFFERED_FRAMES
        assert len(values) <= BUFFERED_FRAMES + 1
