"""The data folder as the command line sees it: who is the host on it, and files that hold keys."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from toolwire.cli.data_folder import DataFolder, HostInfo, read_key, write_private
from toolwire.cli.failure import Failed


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    folder = DataFolder(tmp_path / "deep" / "data")
    folder.prepare()
    return folder


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_folder_is_made_for_its_user_alone(folder: DataFolder):
    assert mode_of(folder.path) == 0o700


def test_the_folder_with_its_keys_is_kept_out_of_git(folder: DataFolder):
    (ignore,) = folder.path.iterdir()
    assert (ignore.name, ignore.read_text()) == (".gitignore", "*\n")

    ignore.write_text("mine\n")
    folder.prepare()
    assert ignore.read_text() == "mine\n"


def test_a_folder_that_cannot_be_written_is_refused_with_the_reason(tmp_path: Path):
    (tmp_path / "file").write_text("")

    with pytest.raises(Failed, match=r"cannot write the data folder .*: not a directory; make it writable") as caught:
        DataFolder(tmp_path / "file" / "data").prepare()
    assert caught.value.code == "data_folder"


def test_a_second_host_on_the_folder_is_refused_and_told_of_the_first(folder: DataFolder):
    with (
        folder.lock(),
        folder.announce(HostInfo("http://127.0.0.1:1", 42, "k")),
        pytest.raises(Failed, match=r"in use by the host at http://127.0.0.1:1 \(process 42\)") as caught,
        DataFolder(folder.path).lock(),
    ):
        raise AssertionError("two hosts on one folder")
    assert caught.value.code == "data_in_use"

    with folder.lock():
        pass


def test_the_lock_of_a_killed_host_holds_nobody(folder: DataFolder):
    program = (
        "import os, sys; from pathlib import Path; from toolwire.cli.data_folder import DataFolder\n"
        "with DataFolder(Path(sys.argv[1])).lock(): os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, folder.path], check=False)

    with folder.lock():
        pass


def test_the_host_is_announced_while_it_runs_and_not_after(folder: DataFolder):
    host = HostInfo("http://127.0.0.1:1", os.getpid(), "/d/owner.key")

    with folder.announce(host):
        assert DataFolder(folder.path).host() == host
        assert mode_of(folder.path / "host.json") == 0o600
    assert folder.host() is None


def test_a_damaged_announcement_is_none(folder: DataFolder):
    (folder.path / "host.json").write_text("{")
    assert folder.host() is None


def test_a_private_file_is_replaced_whole_and_readable_by_its_user_alone(tmp_path: Path):
    path = tmp_path / "new" / "a.key"
    write_private(path, b"one\n")
    path.chmod(0o644)
    write_private(path, b"two\n")

    assert (path.read_bytes(), mode_of(path)) == (b"two\n", 0o600)
    assert list(path.parent.iterdir()) == [path]


def test_a_private_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path):
    (tmp_path / "a.key").mkdir()

    with pytest.raises(OSError, match="directory"):
        write_private(tmp_path / "a.key", b"one")
    assert [path.name for path in tmp_path.iterdir()] == ["a.key"]


def test_a_private_file_for_which_there_is_no_room_is_named(tmp_path: Path):
    script = """
import resource, sys
from pathlib import Path
from toolwire.cli.data_folder import write_private
from toolwire.cli.failure import failure_of
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
try:
    write_private(Path(sys.argv[1]), b"one")
except OSError as error:
    print(failure_of(error).message)
"""
    path = str(tmp_path / "a.key")
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True, timeout=30)

    assert done.stdout == f"{path}: File too large\n"
    assert list(tmp_path.iterdir()) == []


def test_a_key_is_read_without_its_line_end_and_missing_when_there_is_none(tmp_path: Path):
    (tmp_path / "a.key").write_text("oag_1\n")
    (tmp_path / "empty.key").write_text("\n")
    (tmp_path / "binary.key").write_bytes(b"\xff")

    assert read_key(tmp_path / "a.key") == "oag_1"
    assert [read_key(tmp_path / name) for name in ("empty.key", "binary.key", "gone.key")] == [None, None, None]
