"""cards.md §7: terminals of a real host, for people, official MCP clients and at its end."""

import re
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from tests.e2e.canvas_hosts import Host, running_host, toolbox
from tests.e2e.running import eventually

pytestmark = pytest.mark.e2e

LASTING = (
    "sleep 300 & setsid -f sh -c 'echo $$ > away; exec sleep 300'; until [ -s away ]; do :; done;"
    " echo here=$! shell=$$ away=$(cat away)"
)
"""Something in the background, and something that has left the shell's session."""


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def terminal_on(host: Host, **agent: Any) -> tuple[str, dict[str, Any]]:
    """A terminal with an agent joined to it."""
    path = f"/workspaces/{(await host.ask('POST', '/workspaces', {'name': 'desk'}))['id']}"
    terminal = (await host.ask("POST", f"{path}/cards", {"kind": "terminal"}))["id"]
    card = await host.ask("POST", f"{path}/cards", {"kind": "agent", "title": "writer"})
    await host.ask("POST", f"{path}/arrows", {"source": card["id"], "target": terminal})
    return terminal, card


def stream(host: Host, terminal: str, key: str | None) -> connect:
    url = f"{host.ready.url.replace('http', 'ws', 1)}/api/v1/terminals/{terminal}/stream"
    return connect(url, additional_headers={"authorization": f"Bearer {key}"}, proxy=None)


async def until(socket: ClientConnection, words: bytes) -> bytes:
    shown = b""
    with anyio.fail_after(20):
        while words not in shown:
            data = await socket.recv()
            shown += data if isinstance(data, bytes) else b""  # texts tell how the terminal does
    return shown


async def test_an_official_client_runs_commands_while_a_person_looks_on(tmp_path: Path) -> None:
    async with running_host(tmp_path) as host:
        terminal, agent = await terminal_on(host)
        async with stream(host, terminal, host.ready.owner_key) as socket, toolbox(agent) as session:
            names = {tool.name for tool in (await session.list_tools()).tools}
            assert {"terminal_run", "terminal_read", "terminal_send_keys"} <= names
            result = await session.call_tool("terminal_run", {"command": "echo by-$((6 * 7)); (exit 2)"})
            assert result.structured_content is not None
            assert result.structured_content["exit_code"] == 2
            await until(socket, b"by-42\r\n")
            await socket.send(b"echo typed-$((6 * 7))\r")
            await until(socket, b"typed-42\r\n")
            result = await session.call_tool("terminal_read", {"lines": 10})
            assert "typed-42" in str(result.content)
        with pytest.raises(InvalidStatus):
            async with stream(host, terminal, agent["agent_key"]):
                pass


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_what_runs_in_terminals_ends_with_the_host(tmp_path: Path, number: signal.Signals) -> None:
    """A host that is killed cannot end what lies in the background; the next one does."""
    async with running_host(tmp_path) as host:
        terminal, _ = await terminal_on(host)
        ended = await host.ask("POST", f"/terminals/{terminal}/run", {"command": LASTING})
        pids = {name: int(pid) for name, pid in re.findall(r"(away|here|shell)=(\d+)", ended["output"])}
        assert set(pids) == {"here", "shell", "away"}
        assert all(is_alive(pid) for pid in pids.values())
        await anyio.to_thread.run_sync(host.process.stop, number)
        await eventually(lambda: not is_alive(pids["shell"]))
    async with running_host(tmp_path):
        assert [name for name, pid in pids.items() if is_alive(pid)] == []
