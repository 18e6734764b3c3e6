"""What `card dev` runs, when it runs it anew, and what it says when something is missing."""

import signal
import sys
from pathlib import Path

import anyio
import pytest

from tests.unit.card.manifests import encoded, manifest
from toolwire.card.manifest import read_manifest
from toolwire.cli.card import program as programs
from toolwire.cli.card.changes import changed, look
from toolwire.cli.card.dev import until_changed
from toolwire.cli.card.program import HEADLESS, SDK, Program, headless_of, javascript, program_of
from toolwire.cli.failure import Failed
from toolwire.cli.target import Target

TARGET = Target("http://127.0.0.1:8094", "oag_secret")
SOON_S = 0.01


def test_a_python_card_runs_with_this_python_as_its_owners(tmp_path: Path):
    """cards.md §7."""
    program = program_of(tmp_path, read_manifest(encoded(manifest(entry="main.py"))), TARGET, "pkg_1")

    assert program.command == (sys.executable, str(tmp_path / "main.py"))
    environment = program.environment()
    assert environment["TOOLWIRE_CARD_URL"] == "http://127.0.0.1:8094"
    assert environment["TOOLWIRE_CARD_TOKEN"] == "oag_secret"
    assert environment["TOOLWIRE_CARD_PACKAGE"] == "pkg_1"
    assert "oag_secret" not in repr(program)


def test_a_web_card_runs_by_the_package_among_its_dependencies(tmp_path: Path):
    headless = tmp_path / SDK / HEADLESS
    headless.parent.mkdir(parents=True)
    headless.touch()
    folder = tmp_path / "cards" / "radar"
    folder.mkdir(parents=True)

    program = program_of(folder, read_manifest(encoded(manifest())), TARGET, "pkg_1")

    assert program.command[1:] == (
        str(headless),
        *("--url", TARGET.url, "--package", "pkg_1", "--entry", str(folder / "dist" / "index.html")),
    )
    assert program.variables == {"TOOLWIRE_KEY": "oag_secret"}


def test_a_package_that_is_not_built_is_told_so(tmp_path: Path):
    (tmp_path / SDK).mkdir(parents=True)
    with pytest.raises(Failed, match="is not built; run `npm install && npm run build`"):
        headless_of(tmp_path)


def test_a_machine_without_a_node_that_is_new_enough_is_told_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    old = tmp_path / "node"
    old.write_text("#!/bin/sh\necho v20.1.0\n")
    old.chmod(0o755)
    monkeypatch.setattr(programs, "_candidates", lambda: iter([str(old), str(tmp_path / "gone")]))

    with pytest.raises(
        Failed, match=r"Node 22 or newer, .*node is 20\.1\.0; .*gone is not there\); pip install"
    ) as caught:
        javascript()
    assert caught.value.code == "missing_extra"


def test_a_look_passes_over_what_is_never_part_of_a_package(tmp_path: Path):
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "a.js").touch()
    (tmp_path / "main.py").touch()
    (tmp_path / "gone").symlink_to("nowhere")
    assert list(look(tmp_path)) == [str(tmp_path / "main.py")]


async def test_a_change_is_noticed_once_the_folder_is_at_rest(tmp_path: Path):
    seen = look(tmp_path)
    noticed = anyio.Event()

    async def wait() -> None:
        await changed(tmp_path, seen, SOON_S)
        noticed.set()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            assert not noticed.is_set()
            (tmp_path / "main.py").write_text("1")
            await noticed.wait()


async def test_a_program_runs_until_its_folder_changes(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    begun = "import pathlib, time; pathlib.Path('begun').touch(); print('hello'); time.sleep(60)"
    program = Program((sys.executable, "-u", "-c", begun), {})

    with anyio.fail_after(10):
        assert await until_changed(tmp_path, look(tmp_path), program, SOON_S) is True


async def test_a_program_that_ends_is_told_and_not_started_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    code = "import pathlib; print('out'); open('said', 'a').write('1'); raise SystemExit(3)"
    seen = look(tmp_path)

    with anyio.fail_after(10):
        assert await until_changed(tmp_path, {**seen}, Program((sys.executable, "-c", code), {}), 0.5) is True
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("out\n", "the card ended with code 3; waiting for a change\n")
    assert (tmp_path / "said").read_text() == "1"


async def test_a_program_that_cannot_be_started_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    async with anyio.create_task_group() as tasks:

        async def change() -> None:
            await anyio.sleep(0.2)
            (tmp_path / "new").touch()

        tasks.start_soon(change)
        with anyio.fail_after(30):
            await until_changed(tmp_path, look(tmp_path), Program(("/no/such/program",), {}), 0.1)
    assert "/no/such/program cannot be started: No such file or directory" in capsys.readouterr().err


async def test_a_signal_ends_the_program_and_the_waiting(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    code = "import os, signal, time; os.kill(os.getppid(), signal.SIGTERM); time.sleep(60)"

    with anyio.fail_after(10):
        assert await until_changed(tmp_path, look(tmp_path), Program((sys.executable, "-c", code), {}), 1.0) is False
    assert capsys.readouterr().err == "stopping\n"
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
