"""The commands of docs/how-to/terminals.md, run as they stand there against a real host."""

import subprocess
from pathlib import Path

import anyio
import pytest

from tests.docs.pages import blocks, read
from tests.e2e.canvas_hosts import running_host
from tests.e2e.running import environment

pytestmark = pytest.mark.e2e


def printed(script: str, key: str) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        env=environment({"KEY": key}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


async def test_the_pages_commands_run_in_a_terminal_and_start_a_program(tmp_path: Path) -> None:
    """cards.md §7."""
    page = read("docs/how-to/terminals.md")
    script = "\n".join(block.text for block in blocks(page) if block.language == "bash")
    async with running_host(tmp_path) as host:
        script = script.replace("http://127.0.0.1:8094", host.ready.url)
        assert host.ready.owner_key is not None
        key = host.ready.owner_key
        first, status = (await anyio.to_thread.run_sync(lambda: printed(script, key))).splitlines()
    assert f"`{first}`" in page
    assert status == "working"
