"""Who hears of changes: on 2026-07-28 a request that lasts, before that a session's stream or a connection."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from tests.interaction.bench import BOTH, JSON_ONLY, OLD, Bench, Gate, headers
from tests.interaction.cells import CELLS, EVERY_CELL, Talk, notes, talking
from tests.interaction.requirements import (
    ALL,
    GATEWAY_2025,
    GATEWAY_2026,
    HTTP_2025,
    HTTP_2026,
    NEW,
    STDIO_2025,
    STDIO_2026,
    Cell,
    proves,
)
from tests.interaction.requirements import OLD as OLD_CELLS
from tests.interaction.stdio import open_pipes
from tests.interaction.transport import Answer, connect
from toolwire.server import ListChanged, ResourceUpdated, Server

KEY = "io.modelcontextprotocol/subscriptionId"
on_newer_cells = pytest.mark.parametrize("cell", sorted(NEW | {GATEWAY_2026}, key=EVERY_CELL.index))
on_older_cells = pytest.mark.parametrize("cell", sorted(OLD_CELLS | {GATEWAY_2025}, key=EVERY_CELL.index))


class Ear:
    """Hears what comes on a stream or a connection, one message at a time."""

    def __init__(self, talk: Talk, answer: Answer | None) -> None:
        self._talk = talk
        self.answer = answer

    async def next(self) -> Any:
        """The next message, or `None` at the end."""
        if self.answer is not None:
            with anyio.fail_after(5):
                await self.answer.started.wait()
            return await self.answer.frame()
        assert self._talk.lines is not None
        return await self._talk.lines.message()


async def listening(talk: Talk, wanted: Any, id_: Any = 1) -> Ear:
    """Begin a subscription of the newer wire."""
    return Ear(talk, await talk.begin("subscriptions/listen", {"notifications": wanted}, id_))


async def get(talk: Talk, **more: Any) -> Answer:
    """Open the stream of a session."""
    assert talk.peer is not None
    answer = talk.peer.client.start(
        "GET", "/mcp", {**headers(OLD, accept="text/event-stream"), **session(talk), **more}
    )
    with anyio.fail_after(5):
        await answer.started.wait()
    return answer


def session(talk: Talk) -> dict[str, Any]:
    assert talk.peer is not None
    return {"mcp-session-id": talk.peer.more["mcp_session_id"]}


@asynccontextmanager
async def hearing(cell: Cell) -> AsyncGenerator[tuple[Talk, Ear]]:
    """A client of the older wire that is there to hear."""
    async with talking(cell, can={}) as talk:
        yield talk, Ear(talk, await get(talk) if talk.lines is None else None)


def change(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}


def tell_all(server: Server) -> None:
    """Tell of one change of each kind, and of a resource that nobody waits for."""
    for which in ("tools", "prompts", "resources"):
        server.tell(ListChanged(which))
    server.tell(ResourceUpdated("notes://other"))
    server.tell(ResourceUpdated("notes://all"))


@proves("changes.listen")
@on_newer_cells
@pytest.mark.parametrize("id_", [1, "one", 0, ""])
async def test_a_subscription_is_acknowledged_and_then_told_of_all_that_it_asked_for(cell: Cell, id_: Any):
    async with talking(cell) as talk:
        wanted: dict[str, Any] = {
            "toolsListChanged": True,
            "promptsListChanged": True,
            "resourcesListChanged": True,
            "resourceSubscriptions": ["notes://all"],
        }
        ear = await listening(talk, wanted, id_)
        meta = {KEY: id_}
        assert await ear.next() == change("subscriptions/acknowledged", notifications=wanted, _meta=meta)
        tell_all(talk.server)
        for which in ("tools", "prompts", "resources"):
            assert await ear.next() == change(f"{which}/list_changed", _meta=meta)
        assert await ear.next() == change("resources/updated", uri="notes://all", _meta=meta)


@proves("changes.listen")
@on_newer_cells
@pytest.mark.parametrize(
    ("wanted", "honoured"),
    [
        ({}, {}),
        ({"toolsListChanged": False, "resourceSubscriptions": []}, {}),
        ({"promptsListChanged": True, "nonsense": 1}, {"promptsListChanged": True}),
        ({"resourceSubscriptions": ["notes://b", "notes://b"]}, {"resourceSubscriptions": ["notes://b"]}),
    ],
)
async def test_a_subscription_is_told_of_nothing_else(cell: Cell, wanted: Any, honoured: Any):
    async with talking(cell) as talk:
        ear = await listening(talk, wanted)
        assert (await ear.next())["params"]["notifications"] == honoured
        tell_all(talk.server)
        talk.server.tell(ResourceUpdated("notes://b"))
        heard = [f"{name}/list_changed" for name in ("prompts",) if honoured.get("promptsListChanged")]
        heard += ["resources/updated"] * len(honoured.get("resourceSubscriptions", ()))
        for method in heard:
            assert (await ear.next())["method"] == f"notifications/{method}"
        await quiet(talk, ear)


async def quiet(talk: Talk, ear: Ear) -> None:
    """Nothing more has come."""
    await anyio.wait_all_tasks_blocked()
    if ear.answer is not None:
        ear.answer.leave()
        assert await ear.next() is None
        return
    [message] = await talk.say("server/discover" if talk.era != OLD else "ping", None, 99)
    assert message["id"] == 99


@proves("changes.listen", *NEW)
@pytest.mark.parametrize("cell", sorted(NEW, key=EVERY_CELL.index))
async def test_what_is_not_offered_is_not_honoured(cell: Cell):
    async with talking(cell, lambda _: Server("bench")) as talk:
        wanted = {"toolsListChanged": True, "promptsListChanged": True, "resourceSubscriptions": ["notes://all"]}
        ear = await listening(talk, wanted)
        assert (await ear.next())["params"]["notifications"] == {"toolsListChanged": True}


@proves("changes.listen")
@on_newer_cells
@pytest.mark.parametrize(
    "wanted",
    [None, [], {"toolsListChanged": 1}, {"resourceSubscriptions": "notes://all"}, {"resourceSubscriptions": [1]},
     {"resourceSubscriptions": ["notes://all"] * 1001}],
)  # fmt: skip
async def test_a_filter_that_is_none_is_refused(cell: Cell, wanted: Any):
    async with talking(cell) as talk:
        assert (await talk.error("subscriptions/listen", {"notifications": wanted}))["code"] == -32602


@proves("changes.listen", HTTP_2026)
async def test_a_client_that_takes_no_stream_cannot_subscribe():
    async with talking(HTTP_2026) as talk:
        assert talk.peer is not None
        answer = await talk.peer.ask("subscriptions/listen", {"notifications": {}}, accept=JSON_ONLY)
        assert (answer.status, (await answer.json())["error"]["data"]["code"]) == (406, "not_acceptable")


@proves("changes.ended", HTTP_2026)
async def test_a_subscription_over_http_ends_with_a_result_when_the_server_stops():
    server = notes(Gate())
    async with server.open() as served, connect(served.app) as client:
        talk = Talk(HTTP_2026, server, Gate(), Bench(served, client, Gate()).peer("2026-07-28"), None)
        ear = await listening(talk, {"toolsListChanged": True}, "sub")
        assert (await ear.next())["method"] == "notifications/subscriptions/acknowledged"
        assert ear.answer is not None
        ear.answer.cut()
        last = await ear.next()
        assert (last["id"], last["result"]["resultType"], last["result"]["_meta"][KEY]) == ("sub", "complete", "sub")
        assert await ear.next() is None


@proves("changes.ended", HTTP_2026)
async def test_a_subscription_is_forgotten_when_its_client_goes_away():
    async with talking(HTTP_2026) as talk:
        ear = await listening(talk, {"toolsListChanged": True})
        await ear.next()
        assert ear.answer is not None
        ear.answer.leave()
        await ear.answer.body()
        talk.server.tell(ListChanged("tools"))
        again = await listening(talk, {"toolsListChanged": True}, 2)
        assert (await again.next())["params"]["_meta"] == {KEY: 2}


@proves("changes.ended", STDIO_2026)
async def test_a_subscription_on_stdio_ends_with_cancelled_at_the_end_of_input():
    async with talking(STDIO_2026) as talk:
        ear = await listening(talk, {"toolsListChanged": True}, "sub")
        await ear.next()
        assert talk.lines is not None
        talk.lines.end()
        last = await ear.next()
        assert (last["method"], last["params"]["requestId"]) == ("notifications/cancelled", "sub")
        assert await ear.next() is None


@proves("changes.ended", STDIO_2026)
async def test_a_subscription_that_had_no_time_to_begin_holds_up_no_end():
    async with open_pipes(notes) as piped:
        await piped.lines.ask(
            "subscriptions/listen", {"notifications": {"toolsListChanged": True}}, "sub", "2026-07-28"
        )
        piped.lines.end()
        await piped.until_ended()
        [*_, last] = await piped.lines.messages()
        assert last.get("id", last.get("params", {}).get("requestId")) == "sub"


@proves("changes.ended", STDIO_2026)
async def test_a_subscription_on_stdio_ends_in_silence_when_it_is_cancelled():
    async with talking(STDIO_2026) as talk:
        ear = await listening(talk, {"toolsListChanged": True}, 7)
        await ear.next()
        await talk.tell("notifications/cancelled", {"requestId": 7})
        [message] = await talk.say("tools/list", None, 8)
        talk.server.tell(ListChanged("tools"))
        assert message["id"] == 8
        await quiet(talk, ear)


@proves("changes.told")
@on_older_cells
async def test_who_is_there_is_told_of_lists_and_of_the_resources_it_subscribed_to(cell: Cell):
    async with hearing(cell) as (talk, ear):
        assert await talk.result("resources/subscribe", {"uri": "notes://all"}) == {}
        tell_all(talk.server)
        for which in ("tools", "prompts", "resources"):
            assert await ear.next() == change(f"{which}/list_changed")
        assert await ear.next() == change("resources/updated", uri="notes://all")
        assert await talk.result("resources/unsubscribe", {"uri": "notes://all"}) == {}
        assert await talk.result("resources/unsubscribe", {"uri": "notes://never"}) == {}
        talk.server.tell(ResourceUpdated("notes://all"))
        await quiet(talk, ear)


@proves("changes.told", STDIO_2025)
async def test_a_client_that_has_not_initialized_is_told_nothing():
    async with talking(STDIO_2025) as talk:
        assert "result" in (await talk.say("ping"))[0]
        tell_all(talk.server)
        await quiet(talk, Ear(talk, None))


@proves("changes.told")
@on_older_cells
async def test_a_subscription_needs_a_uri_and_there_are_not_too_many(cell: Cell):
    async with hearing(cell) as (talk, _):
        assert (await talk.error("resources/subscribe", {}))["code"] == -32602
        for number in range(1000):
            await talk.result("resources/subscribe", {"uri": f"notes://{number}"})
        error = await talk.error("resources/subscribe", {"uri": "notes://one-more"})
        assert (error["code"], error["data"]["param"]) == (-32602, "uri")


@proves("changes.told", HTTP_2025)
async def test_a_subscription_without_a_session_is_refused():
    async with talking(HTTP_2025) as talk:
        assert talk.peer is not None
        answer = await talk.peer.ask("resources/subscribe", {"uri": "notes://all"}, mcp_session_id="")
        assert (answer.status, (await answer.json())["error"]["code"]) == (400, -32600)


@proves("changes.stream", HTTP_2025)
async def test_a_subscription_outlives_the_stream_and_two_at_once_both_count():
    async with talking(HTTP_2025) as talk:
        for id_, uri in enumerate(("notes://a", "notes://b")):
            await talk.begin("resources/subscribe", {"uri": uri}, id_)
        await anyio.wait_all_tasks_blocked()
        for _ in range(2):
            ear = Ear(talk, await get(talk))
            for uri in ("notes://a", "notes://b"):
                talk.server.tell(ResourceUpdated(uri))
                assert (await ear.next())["params"] == {"uri": uri}


@proves("changes.stream", HTTP_2025)
async def test_a_session_has_one_stream_and_the_latest_is_it():
    async with talking(HTTP_2025) as talk:
        first, second = await get(talk), await get(talk)
        assert await first.frames() == []
        talk.server.tell(ListChanged("tools"))
        assert await second.frame() == change("tools/list_changed")
        second.leave()
        await second.body()
        third = await get(talk)
        talk.server.tell(ListChanged("prompts"))
        assert await third.frame() == change("prompts/list_changed")


@proves("changes.stream", HTTP_2025)
async def test_a_stream_ends_with_its_session():
    async with talking(HTTP_2025) as talk:
        answer = await get(talk)
        assert talk.peer is not None
        done = await talk.peer.client.ask("DELETE", "/mcp", {**headers(OLD), **session(talk)})
        assert done.status == 200
        assert await answer.frames() == []
        gone = await get(talk)
        assert gone.status == 404


@proves("changes.stream", HTTP_2025)
@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"mcp-session-id": ""}, 405),
        ({"mcp-session-id": "unknown"}, 404),
        ({"mcp-protocol-version": "2026-07-28"}, 405),
        ({"accept": JSON_ONLY}, 406),
        ({"accept": BOTH}, 200),
    ],
)
async def test_only_a_session_has_a_stream(more: dict[str, str], status: int):
    async with talking(HTTP_2025) as talk:
        answer = await get(talk, **more)
        assert answer.status == status
        if status == 405:
            assert answer.headers["allow"].startswith("POST")


@proves("sse.silence", HTTP_2025)
@pytest.mark.virtual_time
async def test_a_stream_without_news_is_kept_alive():
    async with talking(HTTP_2025) as talk:
        assert talk.peer is not None
        answer = talk.peer.client.start("GET", "/mcp", {**headers(OLD, accept="text/event-stream"), **session(talk)})
        await answer.started.wait()
        begun = anyio.current_time()
        await anyio.sleep(40)
        assert json.dumps(await answer.frame()) == '": ping"'
        assert await answer.frame() == ": ping"
        assert anyio.current_time() - begun == 40


@proves("changes.live")
@pytest.mark.parametrize("cell", EVERY_CELL)
async def test_what_is_added_to_an_open_server_is_served_and_told(cell: Cell):
    async with talking(cell, can={}) as talk:
        if talk.era == OLD:
            ear = Ear(talk, await get(talk) if talk.lines is None else None)
        else:
            flags = ("toolsListChanged", "promptsListChanged", "resourcesListChanged")
            ear = await listening(talk, dict.fromkeys(flags, True), 50)
            await ear.next()
        talk.server.tool(name="late")(_late)
        talk.server.resource("late://one")(_late)
        talk.server.prompt(name="late")(_late)
        for which in ("tools", "resources", "prompts"):
            assert (await ear.next())["method"] == f"notifications/{which}/list_changed"
        assert (await talk.result("tools/call", {"name": "late"}))["content"][0]["text"] == "late"
        assert (await talk.result("resources/read", {"uri": "late://one"}))["contents"][0]["text"] == "late"
        assert (await talk.result("prompts/get", {"name": "late"}))["messages"][0]["content"]["text"] == "late"


def _late() -> str:
    """Come late."""
    return "late"


@proves("changes.live", *ALL)
@pytest.mark.parametrize("cell", CELLS)
async def test_a_tool_on_a_thread_may_tell_of_a_change(cell: Cell):
    async with talking(cell, can={}) as talk:

        @talk.server.tool
        def touch() -> str:
            """Change a list."""
            talk.server.tell(ListChanged("resources"))
            return "touched"

        if talk.era == OLD:
            ear = Ear(talk, await get(talk) if talk.lines is None else None)
        else:
            ear = await listening(talk, {"resourcesListChanged": True}, 50)
            await ear.next()
        if ear.answer is None and talk.era == OLD:
            assert (await ear.next())["method"] == "notifications/tools/list_changed"
        answer = await talk.begin("tools/call", {"name": "touch"}, 3)
        assert (await ear.next())["method"] == "notifications/resources/list_changed"
        assert (await talk.rest(answer, 3))[-1]["result"]["content"][0]["text"] == "touched"
