"""One session with a server for each principal, and no more than there may be (mcp.md S35)."""

import math
from typing import Any

import anyio
import pytest

from tests.unit.providers.remote_rig import child, ignore, official_server, our_server, serving
from tests.unit.providers.spoken import Spoken
from tests.unit.providers.spoken import tool as listed_tool
from toolwire.core.call import Call, Caller
from toolwire.core.errors import ServiceUnavailable
from toolwire.core.result import Text
from toolwire.providers.remote_pool import PoolRules, RemotePool, open_pool
from toolwire.providers.remote_server import HttpServer
from toolwire.sdk import tool

ADA = Caller("ada", "ada", "mcp")
BOB = Caller("bob", "bob", "mcp")
CHEN = Caller("chen", "chen", "mcp")


@tool
async def echo(text: str) -> str:
    """Say it again."""
    return text


async def call(pool: RemotePool, caller: Caller, name: str = "echo", **arguments: Any) -> str:
    async with pool.lease(caller) as provider:
        result = await provider.call(Call("call_1", caller, name, arguments, math.inf), ignore)
    assert isinstance(result.content[0], Text)
    return result.content[0].text


async def test_each_principal_has_one_session_that_no_other_has():
    async with our_server(echo, protocol="legacy") as (server, seen), open_pool(server, "far") as pool:
        for caller in (ADA, BOB, ADA, Caller("ada", "ada", "rest", session_id="another")):
            await call(pool, caller, text="hi")

        sessions = {each["mcp-session-id"] for each in seen.headers if "mcp-session-id" in each}
        assert seen.methods.count("initialize") == len(sessions) == len(pool) == 2


async def test_each_principal_may_bring_credentials_of_its_own():
    async with our_server(echo) as (server, seen):

        def for_caller(caller: Caller) -> HttpServer:
            return HttpServer(server.url, (("x-who", caller.principal),))

        async with open_pool(for_caller, "far") as pool:
            for caller in (ADA, BOB):
                await call(pool, caller, text="hi")

        assert {each["x-who"] for each in seen.headers} == {"ada", "bob"}


async def test_a_target_that_is_everybodys_has_one_session():
    rules = PoolRules(sharing="everybody")
    async with our_server(echo, protocol="legacy") as (server, seen), open_pool(server, "far", rules=rules) as pool:
        for caller in (ADA, BOB):
            await call(pool, caller, text="hi")

        assert seen.methods.count("initialize") == 1


async def test_sessions_of_one_principal_may_be_kept_apart():
    rules = PoolRules(sharing="session")
    async with our_server(echo, protocol="legacy") as (server, seen), open_pool(server, "far", rules=rules) as pool:
        for session_id in ("one", "two", "one"):
            await call(pool, Caller("ada", "ada", "mcp", session_id=session_id), text="hi")

        assert seen.methods.count("initialize") == 2


@pytest.mark.parametrize("protocol", ["auto", "legacy"])
async def test_two_hundred_calls_at_once_share_one_session(protocol: Any):
    async with our_server(echo, protocol=protocol) as (server, seen), open_pool(server, "far") as pool:
        answers: list[str] = []

        async def one(number: int) -> None:
            answers.append(await call(pool, ADA, text=str(number)))

        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:
                for number in range(200):
                    tasks.start_soon(one, number)

        assert sorted(answers, key=int) == [str(number) for number in range(200)]
        assert seen.methods.count("initialize") + seen.methods.count("server/discover") == 1
        assert seen.methods.count("tools/list") == 1


async def test_two_hundred_calls_at_once_go_to_one_process():
    async with open_pool(child("hostile.py", "plain"), "far") as pool:
        pids: set[str] = set()

        async def one() -> None:
            pids.add(await call(pool, ADA, "pid"))

        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:
                for _ in range(200):
                    tasks.start_soon(one)

        assert len(pids) == 1


class Deleted:
    """An app that tells when a session is deleted."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.happened = anyio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._app(scope, receive, send)
        if scope["type"] == "http" and scope["method"] == "DELETE":
            self.happened.set()


async def test_a_session_without_calls_is_closed_and_opened_again_when_it_is_needed():
    async with our_server(echo, protocol="legacy") as (server, seen):
        deleted = Deleted(seen.app)
        seen.app = deleted
        async with open_pool(server, "far", rules=PoolRules(idle_s=0.05)) as pool:
            await call(pool, ADA, text="hi")
            with anyio.fail_after(5):
                await deleted.happened.wait()

            assert len(pool) == 0
            assert await call(pool, ADA, text="again") == "again"


async def test_a_session_with_a_call_is_never_idle_and_the_longest_idle_one_makes_room():
    rules = PoolRules(most=2)
    async with our_server(echo, protocol="legacy") as (server, seen), open_pool(server, "far", rules=rules) as pool:
        async with pool.lease(ADA):
            await call(pool, BOB, text="hi")
            await call(pool, CHEN, text="hi")
            assert len(pool) == 2
            async with pool.lease(CHEN):
                with pytest.raises(ServiceUnavailable, match=r"far is called by 2 callers at once, as many as there"):
                    await call(pool, BOB, text="hi")

        assert seen.methods.count("initialize") == 2  # Ada's was leased and never needed


async def test_a_closed_pool_says_so():
    async with our_server(echo) as (server, _), open_pool(server, "far") as pool:
        await pool.aclose()

        with pytest.raises(ServiceUnavailable, match="far is not available: its client was closed"):
            await call(pool, ADA, text="hi")


@pytest.mark.parametrize(("scope", "times"), [("public", 1), ("private", 2)])
async def test_a_list_is_shared_between_principals_only_where_the_server_says_that_it_may_be(scope: str, times: int):
    """MCP 2026-07-28, server/utilities/caching: `cacheScope`."""
    spoken = Spoken([listed_tool("work")])
    spoken.ttl_ms, spoken.scope = 60_000, scope
    async with serving(spoken) as url, open_pool(HttpServer(f"{url}/mcp"), "far") as pool:
        for caller in (ADA, BOB):
            async with pool.lease(caller) as provider:
                assert (await provider.find("work")).name == "work"

        assert spoken.count("tools/list") == times


async def test_a_list_is_fetched_again_once_its_time_is_over():
    """MCP 2026-07-28, server/utilities/caching: `ttlMs`."""
    spoken = Spoken([listed_tool("work")])
    spoken.ttl_ms = 1
    async with serving(spoken) as url, open_pool(HttpServer(f"{url}/mcp"), "far") as pool:
        await call(pool, ADA, "work")
        spoken.tools.append(listed_tool("more"))
        await anyio.lowlevel.checkpoint()

        assert await call(pool, ADA, "more") == "more"


async def test_a_list_is_kept_until_its_time_is_over():
    spoken = Spoken([listed_tool("work")])
    spoken.ttl_ms = 3_600_000
    async with serving(spoken) as url, open_pool(HttpServer(f"{url}/mcp"), "far") as pool:
        for _ in range(3):
            async with pool.lease(ADA) as provider:
                await provider.current()

        assert spoken.count("tools/list") == 1


async def test_a_change_ends_what_was_kept_for_everybody():
    async with official_server() as (server, seen), open_pool(server, "far") as pool:
        heard = anyio.Event()
        pool.heard(lambda _: heard.set())
        await call(pool, ADA, "grow")
        with anyio.fail_after(5):
            await heard.wait()

        assert await call(pool, ADA, "extra") == "new"
        assert seen.methods.count("tools/list") == 2
