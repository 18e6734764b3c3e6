"""A key that is revoked opens nothing any more, and what it has opened ends."""

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import anyio

from tests.unit.canvas.cards import connected, desk_with, linked
from tests.unit.canvas.site import Site, open_site
from tests.unit.canvas.test_terminal_stream import looking
from toolwire.surfaces.web_sockets import POLICY


async def second_key(site: Site) -> tuple[str, str]:
    """Another key of the owner's: its id and its secret."""
    made = await site.ask("POST", "/keys", {"kind": "oag", "name": "laptop"}, status=201)
    return made["key_id"], made["key"]


async def test_a_revoked_key_types_into_no_terminal_any_more(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = (await site.card(await site.workspace(), "terminal"))["id"]
        key_id, key = await second_key(site)
        async with looking(site, terminal, key) as theirs, looking(site, terminal) as mine:
            await theirs.type(b"echo o''ne\r")
            await theirs.until(b"one")
            await site.ask("DELETE", f"/keys/{key_id}", status=204)
            closed = await theirs.wait_closed()
            assert (closed["code"], closed["reason"]) == (POLICY, "its key was revoked")
            await mine.type(b"echo t''wo\r")
            await mine.until(b"two")


async def test_a_revoked_key_speaks_for_no_card_any_more(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        key_id, key = await second_key(site)
        async with linked(site, desk.package, key) as card, linked(site, desk.package, key) as silent:
            await card.ask("host.ready", protocol=1, sdk="test")
            await site.ask("DELETE", f"/keys/{key_id}", status=204)
            for one in (card, silent):
                assert (await one.wait_closed())["reason"] == "its key was revoked"
            assert not site.host.canvas.connections.of_package(desk.package)
        async with connected(site, desk.package) as mine:
            assert (await mine.ask("storage.keys", scope="package"))["keys"] == []


async def test_a_revoked_key_is_told_of_nothing_more(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        key_id, key = await second_key(site)
        told: list[bytes] = []
        ended = anyio.Event()

        async def receive() -> MutableMapping[str, Any]:
            await ended.wait()
            return {"type": "http.disconnect"}

        async def send(message: MutableMapping[str, Any]) -> None:
            told.append(message.get("body", b""))
            first.set()

        async def read() -> None:
            await site.host.app(scope, receive, send)

        first = anyio.Event()
        scope = {
            "type": "http",
            "method": "GET",
            "path": f"/api/v1/workspaces/{desk}/events",
            "query_string": b"",
            "headers": [(b"host", b"localhost"), (b"authorization", f"Bearer {key}".encode())],
        }
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read)
                await first.wait()
                await anyio.wait_all_tasks_blocked()
                await site.ask("DELETE", f"/keys/{key_id}", status=204)
                await site.card(desk, "note", title="secret")
        assert b"secret" not in b"".join(told)
