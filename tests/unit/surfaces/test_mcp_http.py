"""The HTTP surface between a door, an engine and a server that fail (gateway.md D16, D22).

What clients see of one that works is told in tests/interaction.
"""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from tests.interaction.bench import NEW, OLD, Gate, body, headers, tools
from tests.interaction.transport import Answer, Client, connect
from toolwire.adapters.clock import SystemClock
from toolwire.adapters.memory import MemoryStore
from toolwire.adapters.memory_blobs import MemoryBlobs
from toolwire.core.call import Caller
from toolwire.core.errors import AgentNotFound, Forbidden, RateLimited, StoreUnavailable, Unauthorized
from toolwire.core.ports import Stored
from toolwire.engine.catalog import Catalog
from toolwire.engine.engine import Engine
from toolwire.providers.function import FunctionProvider
from toolwire.providers.schema import compile_validator
from toolwire.surfaces.endpoint import Admission, Endpoint, Headers
from toolwire.surfaces.limits import Guard
from toolwire.surfaces.mcp_http import HttpSettings, McpHttp
from toolwire.surfaces.sessions import Sessions

SECRET = "the-key-of-the-house"
HELLO: dict[str, Any] = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {}}


class BrokenStore(MemoryStore):
    """A store that cannot be read once `broken` is set."""

    broken = False

    async def get(self, kind: str, owner: str, key: str) -> Stored | None:
        if self.broken:
            raise StoreUnavailable("the store is read-only")
        return await super().get(kind, owner, key)


class ScriptedDoor:
    """Lets everybody in, or raises what it was told to."""

    def __init__(self, catalog: Catalog) -> None:
        self._admission = Admission(Caller("alice", "alice", "mcp"), Endpoint("a", "bench", "1", catalog))
        self.raises: Exception | None = None

    def serves(self, path: str) -> bool:
        return True

    async def admit(self, path: str, headers: Headers, credentials: Sequence[bytes]) -> Admission:
        if self.raises is not None:
            raise self.raises
        return self._admission

    def challenge(self, path: str = "", headers: Headers | None = None) -> str:
        return 'Bearer resource_metadata="http://localhost/x"'


class Site:
    def __init__(self, client: Client, door: ScriptedDoor, store: BrokenStore, gate: Gate) -> None:
        self.client = client
        self.door = door
        self.store = store
        self.gate = gate

    async def post(self, era: str, method: str, params: Any = None, **more: Any) -> Answer:
        name = None if params is None else params.get("name")
        sent = {**headers(era, method, name), **more}
        return await self.client.ask("POST", "/a/mcp", sent, body(method, params, 1, era))


@asynccontextmanager
async def open_site(break_app: Any = None) -> AsyncGenerator[Site]:
    clock, gate = SystemClock(), Gate()
    store = BrokenStore(clock)
    engine = Engine(store, MemoryBlobs(), clock)
    provider = FunctionProvider(tools(gate))
    catalog = Catalog(compile_validator)
    catalog.replace(provider.tools(), provider)
    door = ScriptedDoor(catalog)
    sessions = Sessions(store, engine.recorder, clock, b"secret", 3600)
    http = McpHttp(engine, door, sessions, Guard(), HttpSettings())
    app = http if break_app is None else break_app(http)
    async with engine.running(), http.running(), connect(app) as client:
        yield Site(client, door, store, gate)


@pytest.mark.parametrize("era", [OLD, NEW])
@pytest.mark.parametrize(
    ("error", "status", "code", "header"),
    [
        (Unauthorized("no key"), 401, -32600, ("www-authenticate", 'Bearer resource_metadata="http://localhost/x"')),
        (Forbidden("not yours"), 403, -32600, None),
        (AgentNotFound("nobody"), 404, -32600, None),
        (RateLimited("slowly", retry_after_ms=1500), 429, -32603, ("retry-after", "2")),
        (RateLimited("slowly", retry_after_ms=0), 429, -32603, ("retry-after", "1")),
        (StoreUnavailable("the store is full"), 200, -32603, None),
    ],
)
async def test_who_is_not_let_in_is_told_so_before_the_body_is_looked_at(
    era: str, error: Exception, status: int, code: int, header: tuple[str, str] | None
):
    async with open_site() as site:
        site.door.raises = error
        for raw in (body("tools/list", era=era), b"{"):
            answer = await site.client.ask("POST", "/a/mcp", headers(era, "tools/list"), raw)
            message = await answer.json()
            assert (answer.status, message["id"], message["error"]["code"]) == (status, None, code)
            assert header is None or answer.headers[header[0]] == header[1]


@pytest.mark.parametrize("era", [OLD, NEW])
async def test_a_door_that_breaks_tells_nothing_of_why(era: str, caplog: pytest.LogCaptureFixture):
    async with open_site() as site:
        site.door.raises = RuntimeError(SECRET)
        answer = await site.post(era, "tools/list")
        said = await answer.body()
        error = json.loads(said)["error"]
        assert (answer.status, error["code"], error["data"]["code"]) == (200, -32603, "internal_error")
        assert SECRET.encode() not in said
        assert error["data"]["request_id"] in error["message"]
        assert error["data"]["request_id"] in caplog.text
        site.door.raises = None
        assert (await site.post(era, "tools/list")).status == 200


async def test_a_store_that_cannot_be_read_is_told_as_that():
    async with open_site() as site:
        session = (await site.post(OLD, "initialize", HELLO)).headers["mcp-session-id"]
        site.store.broken = True
        refused = await site.post(OLD, "ping", **{"mcp-session-id": session})
        error = (await refused.json())["error"]
        assert (refused.status, error["data"]["code"], error["data"]["retryable"]) == (
            200,
            "agent_service_unavailable",
            True,
        )
        site.store.broken = False
        assert "result" in await (await site.post(OLD, "ping", **{"mcp-session-id": session})).json()


async def test_a_server_that_cannot_say_who_is_there_costs_no_call(caplog: pytest.LogCaptureFixture):
    asked = anyio.Event()

    def broken(http: McpHttp) -> Any:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            first = True

            async def receive_once() -> Any:
                nonlocal first
                if first:
                    first = False
                    return await receive()
                asked.set()
                raise RuntimeError("nobody may ask twice")

            await http(scope, receive_once, send)

        return app

    async with open_site(broken) as site:
        answer = site.client.start(
            "POST", "/a/mcp", headers(NEW, "tools/call", "hold"), body("tools/call", {"name": "hold"}, era=NEW)
        )
        with anyio.fail_after(5):
            await asked.wait()
        site.gate.release.set()
        await answer.body()
        assert "result" in await answer.message()
        assert "nobody may ask twice" in caplog.text
        assert "result" in await (await site.post(NEW, "tools/list")).json()
