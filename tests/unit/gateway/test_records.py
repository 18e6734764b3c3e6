"""The record of calls over REST: which there were, one in full, and as they happen."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import msgspec
import pytest

from tests.interaction.gateways import OWNER, Attached, gateway_with, reopened
from toolwire.agent import Agent, Ctx
from toolwire.engine.history import latest_calls


class Site:
    """A gateway with one agent, an owner's key, and a caller's."""

    def __init__(self, there: Attached, client: httpx2.AsyncClient, key: str) -> None:
        self.there = there
        self.client = client
        self.key = key

    async def ask(self, path: str = "", status: int = 200, key: str | None = None) -> Any:
        headers = {"authorization": f"Bearer {key or self.key}"}
        response = await self.client.get(f"/api/v1/calls{path}", headers=headers)
        assert response.status_code == status, response.text
        return response.json()["data" if status < 400 else "error"]

    async def call(self, tool: str, key: str | None = None, **arguments: Any) -> Any:
        params = {"name": tool, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {"authorization": f"Bearer {key or self.there.bak}"}
        response = await self.client.post(f"/{self.there.agent_id}/mcp", json=body, headers=headers)
        return response.json()

    async def until(self, condition: Callable[[Any], bool], path: str = "") -> Any:
        with anyio.fail_after(10):
            while not condition(told := await self.ask(path)):
                await anyio.lowlevel.checkpoint()
        return told


class Stream:
    """A reader of the stream of calls, over ASGI."""

    def __init__(self) -> None:
        self.status = 0
        self._text = b""
        self._news = anyio.Event()
        self._left = anyio.Event()
        self._is_over = False
        self.ids: list[str] = []

    @asynccontextmanager
    async def reading(self, site: Site, query: str = "", last: str | None = None) -> AsyncGenerator["Stream"]:
        headers = [(b"authorization", f"Bearer {site.key}".encode()), (b"host", b"localhost")]
        if last is not None:
            headers.append((b"last-event-id", last.encode()))
        scope: dict[str, Any] = {
            "type": "http",
            "method": "GET",
            "path": "/api/v1/calls/events",
            "query_string": query.encode(),
            "headers": headers,
        }

        async def receive() -> Any:
            await self._left.wait()
            return {"type": "http.disconnect"}

        async with anyio.create_task_group() as tasks:
            app: Any = site.there.gateway.app
            tasks.start_soon(app, scope, receive, self._send)
            with anyio.fail_after(5):
                while not self._text:
                    await self._news.wait()
            yield self
            self._left.set()

    async def _send(self, message: Any) -> None:
        self.status = message.get("status", self.status)
        self._text += message.get("body", b"")
        self._is_over = message["type"] == "http.response.body" and not message.get("more_body")
        self._news.set()
        self._news = anyio.Event()

    async def over(self) -> None:
        """Wait until the gateway ends the stream."""
        with anyio.fail_after(5):
            while not self._is_over:
                await self._news.wait()

    async def next(self) -> dict[str, Any]:
        with anyio.fail_after(5):
            while True:
                event, found, rest = self._text.partition(b"\n\n")
                if not found:
                    await self._news.wait()
                    continue
                self._text = rest
                lines = dict(line.split(": ", 1) for line in event.decode().splitlines() if not line.startswith(":"))
                if lines:
                    self.ids.append(lines["id"])
                    return msgspec.json.decode(lines["data"])


class Works:
    """An agent that can add, fail, and wait for the test."""

    def __init__(self) -> None:
        self.go = anyio.Event()
        self.agent = Agent("worker")

        @self.agent.tool
        async def add(a: int, b: int) -> str:
            return str(a + b)

        @self.agent.tool
        async def fail(why: str) -> str:
            raise RuntimeError(why)

        @self.agent.tool
        async def wait(ctx: Ctx) -> str:
            await ctx.progress("half", 1, 2)
            await self.go.wait()
            return "waited"


@asynccontextmanager
async def site_on(there: Attached) -> AsyncGenerator[Site]:
    _, key = await there.gateway.keys.create("oag", OWNER)
    transport = httpx2.ASGITransport(there.gateway.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=30) as client:
        yield Site(there, client, key)


@asynccontextmanager
async def site_with(works: Works, data: Path | None = None, **settings: Any) -> AsyncGenerator[Site]:
    async with gateway_with(works.agent, data, **settings) as there, site_on(there) as site:
        yield site


async def test_calls_are_listed_the_latest_first_with_who_what_and_how_they_ended() -> None:
    async with site_with(Works()) as site:
        await site.call("add", a=1, b=2)
        await anyio.sleep(0.002)  # calls of one millisecond are in no order
        await site.call("fail", why="no paper", idempotency_key="k")
        told = await site.ask()
        assert told["next"] is None
        failed, added = told["calls"]
        assert (added["tool"], added["status"], added["agent_id"]) == ("add", "completed", site.there.agent_id)
        assert (added["arguments"], added["result"], added["error"]) == ('{"a":1,"b":2}', "3", None)
        assert (added["agent_name"], added["surface"], added["keyed"]) == ("worker", "gateway", False)
        assert added["caller"]["kind"] == "key"
        assert added["caller"]["name"].startswith("bak_")
        assert added["started_at"] <= added["ended_at"]
        assert added["duration_ms"] >= 0
        assert (added["task_id"], added["parent"], added["withheld"]) == (None, None, False)
        assert (failed["status"], failed["keyed"], failed["task_id"]) == ("failed", True, failed["call_id"])
        assert failed["error"]["code"] == "tool_failed"


@pytest.mark.parametrize(
    ("query", "tools"),
    [
        ("?tool=add", ["add"]),
        ("?status=failed", ["fail"]),
        ("?status=failed&status=completed", ["fail", "add"]),
        ("?status=running", []),
        ("?agent=worker", ["fail", "add"]),
        ("?agent=agent_gone", []),
        ("?surface=gateway&tool=fail", ["fail"]),
        ("?surface=rest", []),
        ("?caller=key_gone", []),
        ("?since=2020-01-01T00:00:00Z", ["fail", "add"]),
        ("?since=2120-01-01T00:00:00Z", []),
        ("?until=2020-01-01T00:00:00%2B02:00", []),
    ],
)
async def test_calls_are_found_by_agent_tool_outcome_and_time(query: str, tools: list[str]) -> None:
    async with site_with(Works()) as site:
        await site.call("add", a=1, b=2)
        await site.call("fail", why="no paper")
        found = [call["tool"] for call in (await site.ask(query))["calls"]]
        assert sorted(found) == sorted(tools)  # calls of one millisecond have no order


async def test_a_page_says_where_the_next_one_begins() -> None:
    async with site_with(Works()) as site:
        for number in range(5):
            await site.call("add", a=number, b=0)
        results: list[str] = []
        ids: list[str] = []
        sizes: list[int] = []
        query = "?limit=2"
        while True:
            told = await site.ask(query)
            sizes.append(len(told["calls"]))
            results += [call["result"] for call in told["calls"]]
            ids += [call["call_id"] for call in told["calls"]]
            if told["next"] is None:
                break
            query = f"?limit=2&before={told['next']}"
        assert (sorted(results), sizes) == (["0", "1", "2", "3", "4"], [2, 2, 1])
        assert ids == sorted(ids, reverse=True)


@pytest.mark.parametrize("query", ["?status=done", "?limit=0", "?limit=201", "?since=yesterday", "?until=2026-01-01"])
async def test_a_query_that_cannot_be_meant_is_refused(query: str) -> None:
    async with site_with(Works()) as site:
        assert (await site.ask(query, 400))["code"] == "invalid_param"
        if "status" in query:
            assert (await site.ask(f"/events{query}", 400))["code"] == "invalid_param"


async def test_a_running_call_is_listed_and_shown_as_far_as_it_is() -> None:
    works = Works()
    async with site_with(works) as site, anyio.create_task_group() as tasks:
        tasks.start_soon(site.call, "wait")
        told = await site.until(lambda told: told["calls"] and told["calls"][0]["progress"])
        (call,) = told["calls"]
        assert (call["status"], call["ended_at"], call["result"]) == ("running", None, None)
        assert call["progress"] == {"progress": 1, "total": 2, "message": "half"}
        shown = await site.ask(f"/{call['call_id']}")
        assert [(line["kind"], line["text"]) for line in shown["lines"]] == [("progress", "half")]
        assert (shown["answer"], shown["sent"]) == (None, {})
        works.go.set()


async def test_a_call_is_shown_in_full_after_its_end_and_after_a_restart(tmp_path: Path) -> None:
    works = Works()
    works.go.set()
    async with gateway_with(works.agent, tmp_path) as there, site_on(there) as site:
        await site.call("wait")
        call_id = (await site.ask())["calls"][0]["call_id"]
        shown = await site.ask(f"/{call_id}")
        assert shown["answer"]["text"] == "waited"
        assert shown["answer"]["content"] == [{"type": "text", "text": "waited"}]
        assert [line["text"] for line in shown["lines"]] == ["half"]
        assert shown["deadline_at"] > shown["started_at"]
    async with reopened(there, tmp_path) as again, site_on(again) as site:
        assert await site.ask(f"/{call_id}") == shown


async def test_an_owner_sees_nothing_of_anothers_calls_and_a_callers_key_opens_nothing() -> None:
    async with site_with(Works()) as site:
        await site.call("add", a=1, b=2)
        (call,) = (await site.ask())["calls"]
        _, other = await site.there.gateway.keys.create_owner("other")
        assert (await site.ask(key=other))["calls"] == []
        assert (await site.ask(f"/{call['call_id']}", 404, other))["code"] == "task_not_found"
        for path in ("", f"/{call['call_id']}", "/events"):
            assert (await site.ask(path, 403, site.there.bak))["code"] == "forbidden"


async def test_what_calls_said_is_withheld_where_the_settings_say_so() -> None:
    async with site_with(Works(), call_bodies=False) as site:
        await site.call("fail", why="s3cret")
        (call,) = (await site.ask())["calls"]
        shown = await site.ask(f"/{call['call_id']}")
        assert call["withheld"] is True
        assert call["error"]["code"] == "tool_failed"
        assert "s3cret" not in msgspec.json.encode([call, shown]).decode()


async def test_the_stream_tells_of_a_call_when_it_begins_goes_on_and_ends() -> None:
    works = Works()
    async with site_with(works) as site, Stream().reading(site) as stream, anyio.create_task_group() as tasks:
        tasks.start_soon(site.call, "wait")
        begun, gone_on = await stream.next(), await stream.next()
        works.go.set()
        ended = await stream.next()
        assert [(one["type"], one["status"]) for one in (begun, gone_on, ended)] == [
            ("call", "running"),
            ("call", "running"),
            ("call", "completed"),
        ]
        assert begun["call_id"] == gone_on["call_id"] == ended["call_id"]
        assert (begun["progress"], gone_on["progress"]["message"]) == (None, "half")
        assert ended["result"] == "waited"


async def test_a_reader_of_the_stream_goes_on_where_it_left_off() -> None:
    async with site_with(Works()) as site:
        async with Stream().reading(site) as stream:
            await site.call("add", a=1, b=2)
            await stream.next()
        await site.call("add", a=3, b=4)
        async with Stream().reading(site, last=stream.ids[-1]) as again:
            told = [await again.next() for _ in range(3)]
            assert [(one["arguments"], one["status"]) for one in told] == [
                ('{"a":1,"b":2}', "completed"),
                ('{"a":3,"b":4}', "running"),
                ('{"a":3,"b":4}', "completed"),
            ]
        async with Stream().reading(site, last="elsewhere-1") as stale:
            assert (await stale.next())["type"] == "reset"


async def test_nothing_is_missed_between_a_page_and_the_stream() -> None:
    async with site_with(Works()) as site:
        after = (await site.ask())["after"]
        await site.call("add", a=1, b=2)
        async with Stream().reading(site, f"after={after}") as stream:
            assert (await stream.next())["tool"] == "add"


async def test_the_stream_tells_of_what_is_asked_for_alone() -> None:
    async with site_with(Works()) as site, Stream().reading(site, "status=failed&agent=worker") as stream:
        await site.call("add", a=1, b=2)
        await site.call("fail", why="x")
        told = await stream.next()
        assert (told["tool"], told["status"]) == ("fail", "failed")


async def test_the_stream_ends_with_the_key_that_opened_it() -> None:
    async with site_with(Works()) as site:
        keys = site.there.gateway.keys
        record, site.key = await keys.create("oag", OWNER)
        async with Stream().reading(site) as stream:
            await keys.revoke(OWNER, record.key_id)
            await site.call("add", a=1, b=2)
            await stream.over()
            assert stream.ids == []


async def test_the_latest_calls_of_many_are_found_however_dense_they_are() -> None:
    async with site_with(Works()) as site:
        engine = site.there.gateway.engine
        for number in range(1200):
            await site.call("add", a=number, b=0)
        found = [one.call.id async for one in latest_calls(engine, OWNER, "call_g")]
        assert len(found) == 1200
        assert found == sorted(found, reverse=True)
