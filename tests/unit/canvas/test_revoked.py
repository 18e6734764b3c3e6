"""What a key, a grant or a browser's session has opened ends with it, on every surface that holds something open.

Sockets are in unit/gateway/test_link.py and unit/canvas/test_attacks_keys.py, requests that wait for messages in
unit/gateway/test_routes_channels.py.
"""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.interaction.gateways import Attached, attach
from tests.interaction.transport import Answer, Client, connect
from tests.unit.canvas.site import Site, open_site
from tests.unit.gateway.browsers.test_browser import OURS, browser_of, sign_in
from tests.unit.gateway.oauth.browser import open_person
from toolwire.agent import Agent, Ctx

OLD, NEW = "2025-11-25", "2026-07-28"


class Works:
    """An agent whose tool says that it has begun, and goes on until it is stopped."""

    def __init__(self) -> None:
        self.begun = anyio.Event()
        self.stopped = anyio.Event()
        self.agent = Agent("worker")

        @self.agent.tool
        async def wait(ctx: Ctx) -> str:
            await ctx.progress("begun", 1)
            self.begun.set()
            try:
                await anyio.sleep_forever()
            finally:
                self.stopped.set()
            return ""


class Place:
    """A host with an agent attached, and a client of its that streams."""

    def __init__(self, site: Site, works: Works, there: Attached, client: Client) -> None:
        self.site = site
        self.works = works
        self.agent_id = there.agent_id
        self.agent_key = there.agent_key
        self._client = client

    async def key(self, kind: str = "oag") -> tuple[str, str]:
        """Another key: its id and its secret."""
        body = {"kind": kind} if kind == "oag" else {"kind": kind, "agent_id": self.agent_id}
        made = await self.site.ask("POST", "/keys", body, status=201)
        return made["key_id"], made["key"]

    async def revoke(self, key_id: str) -> None:
        await self.site.ask("DELETE", f"/keys/{key_id}", status=204)

    async def send(self, method: str, path: str, key: str, body: Any = None, **more: str) -> Answer:
        sent = {"authorization": f"Bearer {key}", "accept": "text/event-stream", "content-type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in more.items()}
        return await self._client.ask(method, path, sent, *([] if body is None else [json.dumps(body).encode()]))

    async def mcp(self, key: str, version: str, method: str, params: Any, path: str = "/mcp", **more: str) -> Answer:
        meta: dict[str, Any] = {"progressToken": "p"}
        if version == NEW:
            meta |= {
                "io.modelcontextprotocol/protocolVersion": NEW,
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            more |= {"mcp_method": method} | ({"mcp_name": params["name"]} if "name" in params else {})
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        more = {"accept": "application/json, text/event-stream", "mcp_protocol_version": version, **more}
        return await self.send("POST", f"/{self.agent_id}{path}", key, body, **more)

    async def session(self, key: str, path: str = "/mcp") -> str:
        info = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        answer = await self.mcp(key, OLD, "initialize", info, path)
        await answer.body()
        return answer.headers["mcp-session-id"]


@asynccontextmanager
async def open_place(folder: Path) -> AsyncGenerator[Place]:
    works = Works()
    async with open_site(folder, rate_limit_per_minute=0) as site, connect(site.host.app) as client:
        gateway = site.host.gateway
        record = await gateway.agents.create("owner", "worker")
        _, agent_key = await gateway.keys.create("agk", "owner", record.agent_id)
        there = Attached(gateway, record.agent_id, agent_key, "")
        async with attach(works.agent, there):
            yield Place(site, works, there, client)


async def until_begun(place: Place, answer: Answer) -> Answer:
    """A stream that has told of the call's progress."""
    with anyio.fail_after(5):
        while "begun" not in str(frame := await answer.raw_frame()):
            assert frame is not None, "it has ended"
    return answer


async def call_of_2025(place: Place, key: str) -> Answer:
    return await until_begun(place, await place.mcp(key, OLD, "tools/call", {"name": "wait", "arguments": {}}))


async def call_in_a_session(place: Place, key: str) -> Answer:
    session = await place.session(key)
    call: dict[str, Any] = {"name": "wait", "arguments": {}}
    return await until_begun(place, await place.mcp(key, OLD, "tools/call", call, mcp_session_id=session))


async def call_of_2026(place: Place, key: str) -> Answer:
    return await until_begun(place, await place.mcp(key, NEW, "tools/call", {"name": "wait", "arguments": {}}))


async def subscription(place: Place, key: str) -> Answer:
    return await place.mcp(key, NEW, "subscriptions/listen", {"notifications": {"toolsListChanged": True}})


async def stream_of_a_session(place: Place, key: str) -> Answer:
    more = {"mcp_session_id": await place.session(key), "mcp_protocol_version": OLD}
    return await place.send("GET", f"/{place.agent_id}/mcp", key, **more)


async def rest_of_a_stream(place: Place, key: str) -> Answer:
    first = await place.mcp(key, OLD, "tools/call", {"name": "wait", "arguments": {}})
    while not first.ids:
        await first.frame()
    first.leave()
    more = {"last_event_id": first.ids[0], "mcp_protocol_version": OLD}
    return await until_begun(place, await place.send("GET", f"/{place.agent_id}/mcp", key, **more))


async def invoke(place: Place, key: str) -> Answer:
    path = f"/api/v1/agents/{place.agent_id}/invoke"
    return await until_begun(place, await place.send("POST", path, key, {"tool": "wait"}))


async def events_of_a_task(place: Place, key: str) -> Answer:
    path = f"/api/v1/agents/{place.agent_id}/tasks"
    task = await (await place.send("POST", path, key, {"tool": "wait"})).json()
    return await until_begun(place, await place.send("GET", f"{path}/{task['data']['task_id']}/events", key))


async def record_of_calls(place: Place, key: str) -> Answer:
    return await place.send("GET", "/api/v1/calls/events", key)


async def feed_of_a_board(place: Place, key: str) -> Answer:
    return await place.send("GET", f"/api/v1/workspaces/{await place.site.workspace()}/events", key)


Opens = Callable[[Place, str], Awaitable[Answer]]
FOR_CALLERS = (call_of_2025, call_in_a_session, call_of_2026, subscription, stream_of_a_session, rest_of_a_stream,
               invoke, events_of_a_task)  # fmt: skip
FOR_OWNERS = (call_of_2026, record_of_calls, feed_of_a_board)


@pytest.mark.parametrize(
    ("kind", "opens"), [*(("bak", opens) for opens in FOR_CALLERS), *(("oag", opens) for opens in FOR_OWNERS)]
)
async def test_a_stream_ends_when_the_key_is_revoked_that_has_opened_it(tmp_path: Path, kind: str, opens: Opens):
    async with open_place(tmp_path) as place:
        key_id, key = await place.key(kind)
        answer = await opens(place, key)
        assert answer.status == 200
        await place.revoke(key_id)
        await answer.frames()  # it has an end


@pytest.mark.parametrize("opens", [subscription, record_of_calls, feed_of_a_board, call_of_2026])
async def test_a_stream_of_another_key_goes_on(tmp_path: Path, opens: Opens):
    async with open_place(tmp_path) as place:
        key_id, _ = await place.key()
        answer = await opens(place, (await place.key())[1])
        await place.revoke(key_id)
        await anyio.wait_all_tasks_blocked()
        assert not answer.ended.is_set()


@pytest.mark.parametrize("opens", [call_of_2025, call_in_a_session, call_of_2026, invoke])
async def test_a_call_that_only_the_revoked_key_wanted_is_stopped(tmp_path: Path, opens: Opens):
    async with open_place(tmp_path) as place:
        key_id, key = await place.key("bak")
        await opens(place, key)
        await place.revoke(key_id)
        with anyio.fail_after(5):
            await place.works.stopped.wait()


async def test_a_task_goes_on_without_the_key_that_has_begun_it(tmp_path: Path):
    """gateway.md 54: a task survives whoever asked; its owner sees it in the record of calls."""
    async with open_place(tmp_path) as place:
        key_id, key = await place.key("bak")
        await events_of_a_task(place, key)
        await place.revoke(key_id)
        await anyio.wait_all_tasks_blocked()
        (call,) = (await place.site.ask("GET", "/calls"))["calls"]
        assert (call["status"], place.works.stopped.is_set()) == ("running", False)


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_who_waits_for_an_answer_in_json_is_refused(tmp_path: Path, version: str):
    async with open_place(tmp_path) as place:
        key_id, key = await place.key("bak")
        answers: list[Answer] = []

        async def call() -> None:
            params: dict[str, Any] = {"name": "wait", "arguments": {}}
            answers.append(await place.mcp(key, version, "tools/call", params, accept="application/json"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            with anyio.fail_after(5):
                await place.works.begun.wait()
            await anyio.wait_all_tasks_blocked()
            await place.revoke(key_id)
        (answer,) = answers
        assert (answer.status, (await answer.json())["error"]["data"]["code"]) == (401, "unauthorized")


async def test_a_toolbox_ends_its_streams_with_the_agent_s_key(tmp_path: Path):
    async with open_place(tmp_path) as place:
        made = await place.site.host.gateway.keys.create("agk", "owner", place.agent_id)
        toolbox = "/toolbox/mcp"
        more = {"mcp_session_id": await place.session(made[1], toolbox), "mcp_protocol_version": OLD}
        answer = await place.send("GET", f"/{place.agent_id}{toolbox}", made[1], **more)
        assert answer.status == 200
        await place.revoke(made[0].key_id)
        await answer.frames()


async def test_a_stream_ends_with_the_grant_of_its_token(tmp_path: Path):
    """gateway.md 48, D23"""
    async with open_person(tmp_path) as person, connect(person.site.host.app) as client:
        agent_id = await person.agent("picked")
        token = (await person.granted(agent_id))["access_token"]
        place = Place(person.site, Works(), Attached(person.site.host.gateway, agent_id, "", ""), client)
        answers = [await subscription(place, token), await stream_of_a_session(place, token)]
        (listed,) = await person.site.ask("GET", "/grants")
        await person.site.ask("DELETE", f"/grants/{listed['grant_id']}", status=204)
        for answer in answers:
            await answer.frames()


async def test_a_refresh_ends_no_stream(tmp_path: Path):
    async with open_person(tmp_path) as person, connect(person.site.host.app) as client:
        agent_id = await person.agent("picked")
        tokens = await person.granted(agent_id)
        place = Place(person.site, Works(), Attached(person.site.host.gateway, agent_id, "", ""), client)
        answer = await subscription(place, tokens["access_token"])
        assert (await person.refresh(tokens["refresh_token"])).status_code == 200
        await anyio.wait_all_tasks_blocked()
        assert not answer.ended.is_set()


async def test_a_browser_that_is_signed_out_hears_nothing_more(tmp_path: Path):
    async with open_place(tmp_path) as place, browser_of(place.site) as browser:
        await sign_in(place.site, browser)
        desk = await place.site.workspace()
        cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        answer = await place.send(
            "GET", f"/api/v1/workspaces/{desk}/events", "", authorization="", cookie=cookie, **OURS
        )
        assert answer.status == 200
        (signed_in,) = await place.site.ask("GET", "/browser/sessions")
        await place.site.ask("DELETE", f"/browser/sessions/{signed_in['session_id']}", status=204)
        await answer.frames()
