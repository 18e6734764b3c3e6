"""cards.md §7: a terminal byte for byte, agents that run as programs, and who may have them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec

from tests.unit.canvas.cards import WireCard
from tests.unit.canvas.site import Site, open_site
from tests.unit.canvas.test_terminals import is_alive, run, terminal_on


class WireTerminal(WireCard):
    """Somebody who looks at a terminal, and types."""

    def __init__(self) -> None:
        super().__init__()
        self.shown = b""
        self.told: list[dict[str, Any]] = []

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.send" and message.get("bytes") is not None:
            self.shown += message["bytes"]
        elif message["type"] == "websocket.send":
            self.told.append(msgspec.json.decode(message["text"]))
        elif message["type"] == "websocket.close":
            self.closed = message
        self._got.set()

    async def type(self, data: bytes) -> None:
        self._push({"type": "websocket.receive", "bytes": data})

    async def tell(self, **message: Any) -> None:
        self._push({"type": "websocket.receive", "text": msgspec.json.encode(message).decode()})

    async def state(self, **wanted: Any) -> None:
        """Wait until the state that was told last is like this."""
        with anyio.fail_after(10):
            while not (self.states and wanted.items() <= self.states[-1].items()):
                self._got = anyio.Event()
                await self._got.wait()

    @property
    def states(self) -> list[dict[str, Any]]:
        return [told for told in self.told if told["type"] == "state"]

    async def until(self, words: bytes) -> None:
        """Wait until something is shown."""
        with anyio.fail_after(10):
            while words not in self.shown:
                self._got = anyio.Event()
                await self._got.wait()


@asynccontextmanager
async def looking(site: Site, terminal: str, key: str | None = None) -> AsyncGenerator[WireTerminal]:
    wire = WireTerminal()
    scope = {
        "type": "websocket",
        "path": f"/api/v1/terminals/{terminal}/stream",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"authorization", f"Bearer {key or site.owner_key}".encode())],
    }

    async def serve() -> None:
        await site.host.app(scope, wire.receive, wire.send)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        yield wire
        await wire.hang_up()
        tasks.cancel_scope.cancel()


async def test_a_person_types_into_a_shell_and_sees_what_it_prints(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        async with looking(site, terminal) as wire:
            await wire.type("printf 'A%sB' 'ü'\r".encode())
            await wire.until("AüB".encode())
            await wire.tell(type="resize", columns=77, rows=22)
            await wire.tell(type="input", data="stty size\r")
            await wire.until(b"22 77")
            await wire.tell(type="input", data="sh -c \"echo g''o; exec sleep 60\"\r")
            await wire.until(b"go\r\n")
            await wire.type(b"\x03")
            await run(site, terminal, "echo free $((1 + 1))")
            await wire.until(b"free 2\r\n")


async def test_who_looks_sees_the_past_and_what_agents_run_and_nothing_of_ours(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        await run(site, terminal, "echo past")
        async with looking(site, terminal) as wire, looking(site, terminal) as other:
            await wire.until(b"past\r\n")
            await run(site, terminal, "echo pre$((1))sent")
            await wire.until(b"pre1sent\r\n")
            await other.until(b"echo pre$((1))sent\r\n")
            assert b"7770" not in wire.shown
            assert b"__toolwire" not in wire.shown


async def test_a_reader_that_is_too_slow_is_told_so(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        held = anyio.Event()
        async with looking_held(site, terminal, held) as wire:
            await run(site, terminal, "seq 400000")
            held.set()
            await wire.until(b"400000")
            assert {"type": "reset"} in wire.told


@asynccontextmanager
async def looking_held(site: Site, terminal: str, held: anyio.Event) -> AsyncGenerator[WireTerminal]:
    """Somebody who takes nothing until `held`."""
    async with looking(site, terminal) as wire:
        take = wire.send

        async def send(message: Any) -> None:
            await held.wait()
            await take(message)

        wire.send = send
        yield wire


async def test_what_is_no_message_is_told_and_ends_nothing(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        async with looking(site, terminal) as wire:
            for text in ("", "{", "[]", '{"type":"other"}', '{"type":"resize","columns":0,"rows":1}'):
                await wire.say(text)
            await wire.type(b"echo o''n\r")
            await wire.until(b"on\r\n")
            assert [told["code"] for told in wire.told if told["type"] == "error"] == [
                *["invalid_request"] * 4,
                "invalid_param",
            ]


async def test_all_who_look_see_one_size_and_one_of_them_answers_programs(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        await run(site, terminal, "echo past")
        async with looking(site, terminal) as first, looking(site, terminal) as second:
            await first.state(columns=120, rows=32, answers=True)
            await second.state(columns=120, rows=32, answers=False)
            await second.tell(type="resize", columns=77, rows=22)
            await first.state(columns=77, rows=22)
            await first.hang_up()
            await second.state(columns=77, answers=True)
            assert second.told.index({"type": "live"}) == 1


async def test_a_shell_that_has_ended_stays_so_until_it_is_started(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        await run(site, terminal, "printf '\\033[?1049h'; exit 3")
        async with looking(site, terminal) as wire:
            await wire.state(status="exited", exit_code=3)
            assert (await site.ask("POST", f"/terminals/{terminal}/start"))["status"] != "exited"
            await site.ask("POST", f"/terminals/{terminal}/start", status=409)
            await wire.state(status="idle", exit_code=None)
            await wire.until(b"\033[?1047l")


async def test_a_stream_ends_with_its_card(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        workspace = await site.workspace()
        terminal = (await site.card(workspace, "terminal"))["id"]
        async with looking(site, terminal) as wire:
            await wire.type(b"echo o''n\r")
            await wire.until(b"on\r\n")
            await site.ask("DELETE", f"/workspaces/{workspace}/cards/{terminal}", status=204)
            assert (await wire.wait_closed())["code"] == 1000


async def test_others_do_not_look_at_a_terminal(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        agent = await site.card(await site.workspace(), "agent")
        other = (await site.ask("POST", "/owners", {"name": "other"}, status=201))["owner_key"]
        terminal = await terminal_on(site)
        for key in (agent["agent_key"], other, "oag_wrong"):
            async with looking(site, terminal, key) as wire:
                assert (await wire.wait_closed())["code"] == 1008


async def test_an_owner_who_is_not_trusted_has_no_terminals(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        site.owner_key = (await site.ask("POST", "/owners", {"name": "other"}, status=201))["owner_key"]
        workspace = await site.workspace()
        path = f"/workspaces/{workspace}/cards"
        assert (await site.ask("POST", path, {"kind": "terminal"}, status=403))["code"] == "forbidden"
        program = {"kind": "agent", "title": "cli", "content": {"command": "id"}}
        assert (await site.ask("POST", path, program, status=403))["code"] == "forbidden"
        agent = await site.card(workspace, "agent", title="plain")
        changed = {"content": {"command": "id"}}
        await site.ask("PATCH", f"{path}/{agent['id']}", changed, status=403)
        await site.ask("POST", f"/terminals/{agent['id']}/start", status=403)


async def listed(site: Site, agent_id: str, key: str) -> int:
    """The status of an agent's `tools/list`."""
    response = await site.client.post(
        f"/{agent_id}/toolbox/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
        headers={"authorization": f"Bearer {key}", "accept": "application/json"},
    )
    return response.status_code


async def test_an_agents_program_gets_its_toolbox_for_as_long_as_it_runs(tmp_path: Path) -> None:
    """cards.md §4: agents as terminals that run a command line."""
    command = "echo url=$TOOLWIRE_TOOLBOX_URL key=$TOOLWIRE_AGENT_KEY pid=$$; read line; echo got $line; exit 5"
    async with open_site(tmp_path) as site:
        card = await site.card(await site.workspace(), "agent", title="cli", content={"command": command})
        agent, path = card["agent_id"], f"/terminals/{card['id']}"
        assert (await site.ask("POST", f"{path}/write", {"data": "x"}, status=409))["code"] == "conflict"
        assert (await site.ask("POST", f"{path}/start"))["status"] == "working"
        await site.ask("POST", f"{path}/start", status=409)
        await site.ask("POST", f"{path}/run", {"command": "true"}, status=409)
        async with looking(site, card["id"]) as wire:
            await wire.until(b"pid=")
            words = dict(word.split("=", 1) for word in wire.shown.decode().split() if "=" in word)
            assert words["url"] == f"http://localhost/{agent}/toolbox/mcp"
            assert await listed(site, agent, words["key"]) == 200
            await wire.tell(type="input", data="hello\r")
            await wire.until(b"got hello")
        with anyio.fail_after(30):
            while await listed(site, agent, words["key"]) != 401:  # noqa: ASYNC110 -- another process has to end
                await anyio.sleep(0.02)  # who waits for the program's end needs a moment, too
        assert await listed(site, agent, card["agent_key"]) == 200
        assert (await site.ask("GET", f"{path}/screen"))["status"] == "exited"
        assert (await site.ask("POST", f"{path}/start"))["status"] == "working"
        await site.ask("POST", f"{path}/kill", status=204)
        assert not is_alive(int(words["pid"]))


async def test_a_board_shows_how_terminals_and_programs_do(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        workspace = await site.workspace()
        terminal = (await site.card(workspace, "terminal"))["id"]
        agent = (await site.card(workspace, "agent", content={"command": "sleep 60"}))["id"]

        async def states() -> dict[str, str]:
            cards = (await site.ask("GET", f"/workspaces/{workspace}"))["cards"]
            return {card["id"]: card["state"] for card in cards}

        assert await states() == {terminal: "idle", agent: "offline"}
        await site.ask("POST", f"/terminals/{agent}/start")
        await run(site, terminal, "true")
        await site.ask("POST", f"/terminals/{terminal}/write", {"data": "sleep 60\r"}, status=204)
        with anyio.fail_after(10):
            while (await states()) != {terminal: "working", agent: "running"}:
                await anyio.lowlevel.checkpoint()
        await site.ask("POST", f"/terminals/{terminal}/kill", status=204)
        await site.ask("POST", f"/terminals/{agent}/kill", status=204)
        assert await states() == {terminal: "exited", agent: "offline"}


async def test_who_follows_a_workspace_is_told_how_terminals_do(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        workspace = await site.workspace()
        terminal = (await site.card(workspace, "terminal"))["id"]
        follower = site.host.canvas.feed.follow(workspace)
        await run(site, terminal, "exit 3")
        seen: list[tuple[str, int | None]] = []
        with anyio.fail_after(10):
            while not seen or seen[-1] != ("exited", 3):
                moment = await follower.next()
                assert moment is not None
                if moment.kind == "terminal":
                    assert moment.data["card"] == terminal
                    seen.append((moment.data["status"], moment.data["exit_code"]))
        assert ("working", None) in seen
        assert ("idle", None) in seen


def commands_kept(folder: Path) -> list[str]:
    """What the shells of a host have been told, as far as it lies about."""
    return [path.read_text() for path in folder.glob("terminals/*/command")]


async def test_files_of_a_shell_are_gone_with_it(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        await run(site, terminal, "echo secret")
        assert commands_kept(tmp_path) == [""]
    assert commands_kept(tmp_path) == []
