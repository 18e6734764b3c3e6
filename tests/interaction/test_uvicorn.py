"""What only a real server shows: sockets that close, and a stop that is graceful and bounded (mcp.md S8, S12, S16)."""

import json
from typing import Any

import anyio
import httpx2
import pytest

from tests.interaction.bench import ERAS, JSON_ONLY, NEW, OLD, body, headers
from tests.interaction.requirements import HTTP_2025, HTTP_2026, proves
from tests.interaction.uvicorns import Site, open_site

pytestmark = pytest.mark.e2e

PATIENCE_S = 20.0
TELLING: dict[str, Any] = {"name": "tell_and_hold", "_meta": {"progressToken": "t"}}


def request(site: Site, era: str, params: Any, **more: Any) -> dict[str, Any]:
    sent = headers(era, "tools/call", params["name"], **more)
    return {"url": site.url, "headers": sent, "content": body("tools/call", params, 7, era)}


@proves("gone.cancels")
@pytest.mark.parametrize("accept", [JSON_ONLY, "application/json, text/event-stream"])
async def test_a_socket_that_closes_cancels_the_call_on_the_newer_wire(accept: str):
    async with open_site() as site, httpx2.AsyncClient() as client, anyio.create_task_group() as tasks:

        async def call() -> None:
            await client.post(**request(site, NEW, TELLING, accept=accept))

        tasks.start_soon(call)
        await site.gate.until(entered=1)
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await site.gate.until(cancelled=1)


@proves("gone.keeps")
async def test_a_socket_that_closes_cancels_nothing_on_the_older_wire():
    async with open_site() as site, httpx2.AsyncClient() as client:
        async with anyio.create_task_group() as tasks:

            async def call() -> None:
                await client.post(**request(site, OLD, TELLING))

            tasks.start_soon(call)
            await site.gate.until(entered=1)
            tasks.cancel_scope.cancel()
        answer = await client.post(**request(site, OLD, {"name": "echo", "arguments": {"text": "later"}}))
        assert answer.status_code == 200
        site.gate.release.set()
        await site.gate.until(finished=1)
        assert site.gate.cancelled == 0


@proves("stop.answered", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_a_stop_ends_open_streams_with_an_answer_and_does_not_wait_for_ever(era: str):
    async with open_site() as site, httpx2.AsyncClient() as client:
        async with client.stream("POST", **request(site, era, TELLING)) as answer:
            frames = answer.aiter_lines()
            assert (await anext(frames)).startswith(("event: message", "id: "))
            site.stop()
            with anyio.fail_after(PATIENCE_S):
                rest = [line.removeprefix("data: ") async for line in frames if line.startswith("data: ")]
        last = json.loads(rest[-1])
        assert (last["id"], last["error"]["data"]["code"]) == (7, "agent_service_unavailable")
        with anyio.fail_after(PATIENCE_S):
            await site.ended.wait()


@proves("stop.answered", HTTP_2025)
async def test_a_stop_ends_a_stream_that_was_gone_on_with():
    async with open_site() as site, httpx2.AsyncClient() as client:
        async with client.stream("POST", **request(site, OLD, TELLING)) as answer:
            first = await anext(answer.aiter_lines())
        sent = headers(OLD, accept="text/event-stream", last_event_id=first.removeprefix("id: "))
        async with client.stream("GET", site.url, headers=sent) as again:
            frames = again.aiter_lines()
            assert (await anext(frames)).startswith("id: ")
            site.stop()
            with anyio.fail_after(PATIENCE_S):
                rest = [line.removeprefix("data: ") async for line in frames if line.startswith("data: ")]
        last = json.loads(rest[-1])
        assert (last["id"], last["error"]["data"]["code"]) == (7, "agent_service_unavailable")
        with anyio.fail_after(PATIENCE_S):
            await site.ended.wait()


@proves("stop.answered", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_a_stop_answers_who_waits_for_json(era: str):
    async with open_site() as site, httpx2.AsyncClient() as client, anyio.create_task_group() as tasks:
        answers: list[httpx2.Response] = []

        async def call() -> None:
            answers.append(await client.post(**request(site, era, {"name": "hold"}, accept=JSON_ONLY)))

        tasks.start_soon(call)
        await site.gate.until(entered=1)
        site.stop()
        with anyio.fail_after(PATIENCE_S):
            await site.ended.wait()
            while not answers:
                await anyio.wait_all_tasks_blocked()
        assert answers[0].json()["error"]["data"]["code"] == "agent_service_unavailable"


@proves("stop.answered", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_what_ends_within_the_grace_is_answered_as_ever(era: str):
    async with open_site() as site, httpx2.AsyncClient() as client:
        async with client.stream("POST", **request(site, era, TELLING)) as answer:
            frames = answer.aiter_lines()
            assert (await anext(frames)).startswith(("event: message", "id: "))
            site.stop()
            site.gate.release.set()
            with anyio.fail_after(PATIENCE_S):
                rest = [line.removeprefix("data: ") async for line in frames if line.startswith("data: ")]
        assert json.loads(rest[-1])["result"]["content"][0]["text"] == "done"


@proves("tools.call", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_one_connection_carries_many_calls_of_either_form(era: str):
    async with open_site() as site, httpx2.AsyncClient(limits=httpx2.Limits(max_connections=1)) as client:
        for number in range(20):
            params = {"name": "echo", "arguments": {"text": str(number)}}
            plain = await client.post(**request(site, era, params, accept=JSON_ONLY))
            assert plain.json()["result"]["content"][0]["text"] == str(number)
            streamed = await client.post(**request(site, era, params, accept="text/event-stream"))
            assert json.loads(streamed.text.split("data: ")[1])["result"]["content"][0]["text"] == str(number)
