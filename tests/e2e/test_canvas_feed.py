"""The feed of a workspace over a real socket: who was away, who reads nothing, and the host that ends (cards.md §7)."""

import contextlib
import socket
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.e2e.canvas_hosts import Host, running_host
from toolwire.surfaces.feed import KEPT_MOMENTS

pytestmark = pytest.mark.e2e

PATIENCE_S = 30.0


async def workspace_on(host: Host) -> str:
    return f"/workspaces/{(await host.ask('POST', '/workspaces', {'name': 'desk'}))['id']}"


async def note(host: Host, path: str, title: str) -> dict[str, Any]:
    return await host.ask("POST", f"{path}/cards", {"kind": "note", "title": title})


def title_in(moment: dict[str, Any] | None) -> str:
    """The title of the one card that a moment tells of."""
    assert moment is not None
    assert moment["type"] == "board", moment
    [change] = moment["changes"]
    return change["card"]["title"]


def read_until(stalled: socket.socket, wanted: bytes) -> None:
    heard = b""
    while wanted not in heard:
        heard = heard[-100:] + stalled.recv(1 << 20)


async def test_a_reader_that_comes_back_hears_what_it_has_missed(tmp_path: Path) -> None:
    async with running_host(tmp_path) as host:
        path = await workspace_on(host)
        with anyio.fail_after(PATIENCE_S):
            async with host.feed(path) as feed:
                await note(host, path, "one")
                assert title_in(await feed.next()) == "one"
            await note(host, path, "two")
            await note(host, path, "three")
            async with host.feed(path, feed.last_id) as again:
                assert [title_in(await again.next()) for _ in range(2)] == ["two", "three"]
                await note(host, path, "four")
                assert title_in(await again.next()) == "four"


async def test_after_a_restart_a_reader_is_told_to_read_everything_anew(tmp_path: Path) -> None:
    async with running_host(tmp_path) as first:
        path = await workspace_on(first)
        async with first.feed(path) as feed:
            await note(first, path, "one")
            assert title_in(await feed.next()) == "one"
        assert first.process.stop() == 0
    async with running_host(tmp_path) as second, second.feed(path, feed.last_id) as again:
        with anyio.fail_after(PATIENCE_S):
            told = await again.next()
            assert told is not None
            assert told["type"] == "reset"
            assert [card["title"] for card in (await second.ask("GET", path))["cards"]] == ["one"]
            await note(second, path, "two")
            assert title_in(await again.next()) == "two"


async def test_a_reader_that_reads_nothing_holds_up_nobody_and_hears_a_reset_later(tmp_path: Path) -> None:
    async with running_host(tmp_path) as host:
        path = await workspace_on(host)
        url = httpx2.URL(host.ready.url)
        with socket.socket() as stalled:
            stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # so that little is on its way
            stalled.connect((url.host, url.port or 0))
            head = f"GET /api/v1{path}/events HTTP/1.1\r\nHost: {url.netloc.decode()}\r\n"
            stalled.sendall(f"{head}Authorization: Bearer {host.ready.owner_key}\r\n\r\n".encode())
            assert stalled.recv(100).startswith(b"HTTP/1.1 200")
            card = await note(host, path, "large")
            with anyio.fail_after(PATIENCE_S):
                async with host.feed(path) as feed:
                    for count in range(KEPT_MOMENTS + 400):
                        content = {"count": count, "text": "x" * 20_000}
                        await host.ask("PATCH", f"{path}/cards/{card['id']}", {"content": content})
                        told = await feed.next()
                        assert told is not None
                        assert told["changes"][0]["card"]["content"]["count"] == count
            with anyio.fail_after(PATIENCE_S):
                await anyio.to_thread.run_sync(read_until, stalled, b'"type":"reset"', abandon_on_cancel=True)


async def test_a_host_that_ends_ends_its_streams(tmp_path: Path) -> None:
    async with running_host(tmp_path) as host:
        path = await workspace_on(host)
        async with host.feed(path) as feed, anyio.create_task_group() as tasks:

            async def listen() -> None:
                with contextlib.suppress(httpx2.RemoteProtocolError):  # an end in the middle is one, too
                    assert await feed.next() is None

            tasks.start_soon(listen)
            with anyio.fail_after(PATIENCE_S):
                assert await anyio.to_thread.run_sync(host.process.stop) == 0


async def test_the_feed_of_a_workspace_that_is_removed_ends(tmp_path: Path) -> None:
    async with running_host(tmp_path) as host:
        path = await workspace_on(host)
        async with host.feed(path) as feed:
            await host.ask("DELETE", path)
            with anyio.fail_after(PATIENCE_S):
                assert await feed.next() is None
