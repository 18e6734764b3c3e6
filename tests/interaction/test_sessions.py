"""Sessions as clients see them: offered and never required, bound to who began them, over when they are over.

gateway.md 40, D12; mcp.md S1-S6. How the tokens work is told in tests/unit/surfaces/test_sessions.py.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.interaction.bench import BOTH, NEW, OLD, Gate, Peer, body, headers, open_bench, tools
from tests.interaction.requirements import proves
from tests.interaction.transport import Answer, Client, connect
from toolwire.adapters.memory import MemoryStore
from toolwire.adapters.memory_blobs import MemoryBlobs
from toolwire.core.call import Caller
from toolwire.core.errors import Unauthorized
from toolwire.engine.catalog import Catalog
from toolwire.engine.engine import Engine
from toolwire.providers.function import FunctionProvider
from toolwire.providers.schema import compile_validator
from toolwire.surfaces.endpoint import Admission, Endpoint, Headers
from toolwire.surfaces.limits import Guard
from toolwire.surfaces.mcp_http import HttpSettings, McpHttp
from toolwire.surfaces.sessions import Sessions

TTL_S = 3600.0
HELLO: dict[str, Any] = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}


class ManualClock:
    def __init__(self) -> None:
        self.at = 1_800_000_000.0

    def now(self) -> float:
        return self.at


class Doors:
    """Endpoints `/a/mcp` and `/b/mcp`; whoever names himself in `Authorization` is let in."""

    def __init__(self, catalog: Catalog) -> None:
        self._endpoints = {f"/{name}/mcp": Endpoint(name, name, "1", catalog) for name in ("a", "b")}

    def serves(self, path: str) -> bool:
        return path in self._endpoints

    async def admit(self, path: str, headers: Headers, credentials: Sequence[bytes]) -> Admission:
        if not credentials:
            raise Unauthorized("say who you are")
        name = credentials[0].decode()
        return Admission(Caller(name, name, "mcp"), self._endpoints[path])

    def challenge(self, path: str = "", headers: Headers | None = None) -> str:
        return "Name"


class Site:
    """Two endpoints for any number of callers, on a clock that moves when the test says so."""

    def __init__(self, client: Client, clock: ManualClock, store: MemoryStore, engine: Engine) -> None:
        self.client = client
        self.clock = clock
        self.store = store
        self.engine = engine

    async def post(self, sent: bytes, who: str = "alice", path: str = "/a/mcp", **more: Any) -> Answer:
        return await self.client.ask("POST", path, headers(OLD, authorization=who, **more), sent)

    async def begin(self, who: str = "alice", path: str = "/a/mcp") -> str:
        """A new session's id."""
        return (await self.post(body("initialize", HELLO), who, path)).headers["mcp-session-id"]

    async def status(self, session: str, who: str = "alice", path: str = "/a/mcp") -> int:
        """The status of a ping in a session."""
        return (await self.post(body("ping"), who, path, mcp_session_id=session)).status

    async def rows(self) -> int:
        """What the store knows of sessions, once all is written."""
        await self.engine.recorder.flush()
        return len(await self.store.scan("session", None))


@asynccontextmanager
async def open_site() -> AsyncGenerator[Site]:
    clock = ManualClock()
    store = MemoryStore(clock)
    engine = Engine(store, MemoryBlobs(), clock)
    provider = FunctionProvider(tools(Gate()))
    catalog = Catalog(compile_validator)
    catalog.replace(provider.tools(), provider)
    sessions = Sessions(store, engine.recorder, clock, b"secret", TTL_S)
    http = McpHttp(engine, Doors(catalog), sessions, Guard(), HttpSettings())
    async with engine.running(), http.running(), connect(http) as client:
        yield Site(client, clock, store, engine)


async def refused(answer: Answer, id_: Any) -> None:
    """The answer says that the session is over and what to do."""
    message = await answer.json()
    assert (answer.status, message["id"]) == (404, id_)
    assert message["error"]["data"]["code"] == "session_not_found"
    assert "initialize" in message["error"]["message"]


@proves("session.minted")
async def test_initialize_and_nothing_else_gives_a_session():
    async with open_bench() as bench:
        peer = bench.peer(OLD)
        ids = [(await peer.ask("initialize", HELLO)).headers["mcp-session-id"] for _ in range(2)]
        assert ids[0] != ids[1]
        assert all(0x21 <= ord(character) <= 0x7E for character in ids[0])
        for each in (peer, await peer.session()):
            for method in ("ping", "tools/list", "nonsense"):
                assert "mcp-session-id" not in (await each.ask(method)).headers
            assert (
                "mcp-session-id" not in (await each.ask("tools/call", {"name": "add", "arguments": {"a": 1}})).headers
            )


@proves("session.minted")
async def test_initialize_within_a_session_begins_another():
    async with open_bench() as bench:
        first = await bench.peer(OLD).session()
        for known in (first.more["mcp_session_id"], "unknown"):
            answer = await first.ask("initialize", HELLO, mcp_session_id=known)
            assert answer.status == 200
            assert answer.headers["mcp-session-id"] not in (known, first.more["mcp_session_id"])


@proves("session.minted")
async def test_initialize_as_a_notification_begins_nothing():
    async with open_bench() as bench:
        answer = await bench.peer(OLD).ask("initialize", HELLO, id_=None)
        assert answer.status == 202
        assert "mcp-session-id" not in answer.headers


@proves("session.offered")
@pytest.mark.parametrize("version", ["", OLD, "2025-03-26"])
async def test_no_request_needs_a_session(version: str):
    async with open_bench() as bench:
        peer = bench.peer(OLD, mcp_protocol_version=version)
        assert "result" in await (await peer.ask("ping")).json()
        assert "result" in await (await peer.ask("tools/list")).json()
        assert "result" in await peer.call("echo", {"text": "hi"})


@proves("session.offered")
async def test_a_session_serves_all_methods():
    async with open_bench() as bench:
        peer = await bench.peer(OLD).session()
        assert (await peer.ask("notifications/initialized", id_=None)).status == 202
        assert "result" in await (await peer.ask("tools/list")).json()
        assert (await peer.call("echo", {"text": "hi"}))["result"]["content"][0]["text"] == "hi"


@proves("session.unknown")
@pytest.mark.parametrize("spoil", ["unknown", "tampered", "longer"])
async def test_an_id_that_is_none_of_ours_is_a_404_for_every_request(spoil: str):
    async with open_bench() as bench:
        good = (await bench.peer(OLD).session()).more["mcp_session_id"]
        tampered = good[:-1] + ("A" if good[-1] != "A" else "B")
        bad = {"unknown": "mine", "tampered": tampered, "longer": good + "AAAA"}[spoil]
        peer = bench.peer(OLD, mcp_session_id=bad)
        for method in ("ping", "tools/list", "nonsense"):
            await refused(await peer.ask(method, id_="m"), "m")
        await refused(await peer.ask("tools/call", {"name": "hold"}, "m"), "m")
        await refused(await peer.ask("notifications/initialized", id_=None), None)
        deleted = await bench.client.ask("DELETE", "/mcp", headers(OLD, mcp_session_id=bad))
        await refused(deleted, None)
        assert bench.gate.entered == 0


@proves("session.unknown")
async def test_a_session_header_that_stands_twice_is_unknown():
    async with open_bench() as bench:
        session = (await bench.peer(OLD).session()).more["mcp_session_id"]
        await refused(await bench.peer(OLD, mcp_session_id=[session, session]).ask("ping"), 1)


@proves("session.unknown")
async def test_a_session_is_the_callers_own_and_the_endpoints_own():
    async with open_site() as site:
        session = await site.begin("alice", "/a/mcp")
        assert await site.status(session, "alice", "/a/mcp") == 200
        assert await site.status(session, "mallory", "/a/mcp") == 404
        assert await site.status(session, "alice", "/b/mcp") == 404
        stolen = await site.client.ask(
            "DELETE", "/a/mcp", headers(OLD, authorization="mallory", mcp_session_id=session)
        )
        assert stolen.status == 404
        assert await site.status(session, "alice", "/a/mcp") == 200


@proves("session.unknown")
async def test_after_a_restart_a_session_is_unknown_and_initialize_works_at_once():
    async with open_bench() as before:
        session = (await before.peer(OLD).session()).more["mcp_session_id"]
    async with open_bench() as after:
        await refused(await after.peer(OLD, mcp_session_id=session).ask("ping"), 1)
        fresh: Peer = await after.peer(OLD).session()
        assert (await fresh.ask("ping")).status == 200


@proves("session.ended")
async def test_delete_ends_a_session_at_once_and_for_good():
    async with open_site() as site:
        for used in (True, False):
            session = await site.begin()
            if used:
                assert await site.status(session) == 200
            ended = await site.client.ask(
                "DELETE", "/a/mcp", headers(OLD, authorization="alice", mcp_session_id=session)
            )
            assert (ended.status, await ended.body()) == (200, b"")
            for _ in range(3):
                assert await site.status(session) == 404
                await site.rows()
                site.clock.at += 10
            again = await site.client.ask(
                "DELETE", "/a/mcp", headers(OLD, authorization="alice", mcp_session_id=session)
            )
            assert again.status == 404


@proves("session.ended")
async def test_delete_names_a_session():
    async with open_bench() as bench:
        answer = await bench.client.ask("DELETE", "/mcp", headers(OLD))
        assert (answer.status, (await answer.json())["error"]["data"]["code"]) == (400, "invalid_request")


@proves("session.idle")
async def test_a_session_that_is_idle_for_too_long_ends_and_one_in_use_does_not():
    async with open_site() as site:
        idle, used = await site.begin(), await site.begin()
        for _ in range(8):
            site.clock.at += TTL_S / 4
            assert await site.status(used) == 200
            await site.rows()
        assert await site.status(idle) == 404
        assert await site.status(used) == 200


@proves("session.refused")
async def test_what_is_refused_leaves_no_session_behind():
    async with open_site() as site:
        answers = [
            await site.post(body("initialize", HELLO), "", "/a/mcp"),
            await site.post(body("initialize", HELLO), host="evil.example.com"),
            await site.post(body("initialize", HELLO), accept="text/html"),
            await site.post(body("initialize", HELLO), content_type="text/plain"),
            await site.post(b"[]"),
            await site.post(b"{"),
            await site.post(body("initialize", {})),
            await site.post(body("initialize", HELLO, id_=True)),
            await site.post(body("ping"), mcp_session_id="mine"),
        ]
        assert [answer.status for answer in answers] == [401, 421, 406, 415, 400, 400, 200, 400, 404]
        assert all("mcp-session-id" not in answer.headers for answer in answers)
        assert await site.rows() == 0


@proves("session.none")
async def test_the_newer_wire_neither_gives_nor_reads_nor_ends_sessions():
    async with open_bench() as bench:
        peer = bench.peer(NEW, mcp_session_id="whatever", accept=BOTH)
        for method in ("server/discover", "tools/list"):
            answer = await peer.ask(method)
            assert answer.status == 200
            assert "mcp-session-id" not in answer.headers
        assert "result" in await peer.call("echo", {"text": "hi"})
        session = (await bench.peer(OLD).session()).more["mcp_session_id"]
        deleted = await bench.client.ask("DELETE", "/mcp", headers(NEW, mcp_session_id=session))
        assert (deleted.status, deleted.headers["allow"]) == (405, "POST")
        assert (await bench.peer(OLD, mcp_session_id=session).ask("ping")).status == 200
