"""cards.md §7: how a card reaches its host over a real socket, and what it makes of refusals."""

import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from toolwire.card import CardError
from toolwire.card.errors import WireLost
from toolwire.card.websocket import wire_opener

HEAVY = ("starlette", "uvicorn", "sqlite3", "mcp", "websockets", "httpx2", "jsonschema_rs", "cryptography", "cyclopts")


class Door:
    """A server that lets in, or refuses with a status."""

    def __init__(self) -> None:
        self.status = 0
        self.seen: list[tuple[str, str]] = []
        self.talk: Callable[[ServerConnection], Awaitable[None]] = self._echo
        self.url = ""

    async def look(self, connection: ServerConnection, request: Request) -> Response | None:
        self.seen.append((request.path, request.headers["Authorization"]))
        return Response(self.status, "No", Headers(), b"") if self.status else None

    async def _echo(self, connection: ServerConnection) -> None:
        async for message in connection:
            await connection.send(message)


@asynccontextmanager
async def door() -> AsyncGenerator[Door]:
    one = Door()

    async def talk(connection: ServerConnection) -> None:
        await one.talk(connection)

    async with serve(talk, "127.0.0.1", 0, process_request=one.look) as server:
        one.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield one


async def test_messages_go_both_ways_with_the_key_and_the_package() -> None:
    async with door() as one:
        for url, path in ((one.url, ""), (f" {one.url}/base/ ", "/base"), (one.url.replace("http", "ws"), "")):
            async with wire_opener(url, "oag_1", "pkg/1")() as wire:
                await wire.send("文".encode())
                assert await wire.receive() == "文".encode()
            assert one.seen[-1] == (f"{path}/api/v1/cards/link?package=pkg/1", "Bearer oag_1")
        async with wire_opener(one.url, "crd_1", None)() as wire:
            await wire.send(b"{}")
        assert one.seen[-1] == ("/api/v1/cards/link", "Bearer crd_1")


@pytest.mark.parametrize(
    ("status", "code"),
    [(401, "unauthorized"), (403, "unauthorized"), (404, "package_not_found"), (409, "package_not_found")],
)
async def test_a_refusal_that_stays_one_is_an_error(status: int, code: str) -> None:
    async with door() as one:
        one.status = status
        with pytest.raises(CardError) as refused:
            async with wire_opener(one.url, "oag_secret", None)():
                raise AssertionError("it was let in")
        assert refused.value.code == code
        assert "oag_secret" not in str(refused.value)


async def test_what_may_go_better_another_time_is_a_lost_wire() -> None:
    async with door() as one:
        for one.status in (429, 500, 503):
            with pytest.raises(WireLost, match=str(one.status)):
                async with wire_opener(one.url, "oag_1", None)():
                    raise AssertionError("it was let in")
        gone = one.url
    with pytest.raises(WireLost):
        async with wire_opener(gone, "oag_1", None)():
            raise AssertionError("nobody is there")


async def test_who_is_replaced_does_not_come_back_and_who_is_cut_off_does() -> None:
    """Decision 24."""
    async with door() as one:
        for code, error in ((4001, CardError), (1000, WireLost), (1008, WireLost), (1011, WireLost)):

            async def close(connection: ServerConnection, code: int = code) -> None:
                await connection.close(code, "another one speaks for the card now")

            one.talk = close
            async with wire_opener(one.url, "oag_1", None)() as wire:
                with pytest.raises(error, match="another one"):
                    await wire.receive()
                with pytest.raises(WireLost):
                    await wire.send(b"{}")


@pytest.mark.parametrize("url", ["", "localhost:8094", "ftp://localhost", "http://", "/path"])
def test_what_is_no_address_is_said_before_anything_is_opened(url: str) -> None:
    with pytest.raises(ValueError, match="write one like"):
        wire_opener(url, "oag_1", None)


def test_the_library_is_light_to_import() -> None:
    """A card's process needs no server, and its author's test no socket."""
    loads = "import sys; before = set(sys.modules); import toolwire.card; new = set(sys.modules) - before"
    code = f"{loads}; print([name for name in new if name.split('.')[0] in {HEAVY!r}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout.strip() == "[]"
