"""How a program on a pseudo-terminal ends, with all that it has started."""

import os
from pathlib import Path

import anyio
import pytest

from tests.pids import until_gone
from toolwire.canvas.terminal import pty_process
from toolwire.canvas.terminal.pty_process import PtyProcess

HOLDS = """
trap 'sh -c "sleep 0.1; rm held"' EXIT
touch held
echo $$
while :; do sleep 1; done
"""


async def started(folder: Path, script: str) -> tuple[PtyProcess, int]:
    """A shell that runs a script in the foreground, and the id of the process that the script has printed."""
    (folder / "script.sh").write_text(script)
    environment = {"PATH": os.environ["PATH"]}
    pty = await PtyProcess.start(["bash", "-c", "bash script.sh; true"], str(folder), environment, 80, 24, "pty_test")
    with anyio.fail_after(5):
        return pty, int(await pty.read())


async def test_a_program_that_holds_something_lets_go_of_it_before_its_terminal_ends(tmp_path: Path) -> None:
    """As `pyenv init` does with its lock, for which every later shell would wait a minute."""
    pty, _ = await started(tmp_path, HOLDS)
    assert (tmp_path / "held").exists()
    await pty.end()
    assert not (tmp_path / "held").exists()


async def test_a_program_that_does_not_end_is_killed_with_its_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pty_process, "CLEAN_S", 0.05)
    monkeypatch.setattr(pty_process, "GRACE_S", 0.1)
    pty, stubborn = await started(tmp_path, "trap '' HUP TERM; echo $$; exec sleep 60")
    await pty.end()
    await until_gone(stubborn)
