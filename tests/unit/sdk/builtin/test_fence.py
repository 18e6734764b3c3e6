"""Writes cannot leave the workspace: not by `..`, absolute paths, links of either kind, nor by a race."""

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.unit.sdk.builtin.desk import Desk
from toolwire.sdk.builtin import Workspace, WorkspaceEscape
from toolwire.sdk.builtin.fence import open_place, read_current, replace
from toolwire.sdk.result import ToolError


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory beside the workspace, with a file in it."""
    made = tmp_path / "outside"
    made.mkdir()
    (made / "file").write_text("untouched")
    return made


@pytest.mark.parametrize(
    "path",
    [
        "../outside/file",
        "../outside/new",
        "a/../../outside/new",
        "missing/../../outside/new",
        "{outside}/file",
        "{outside}/new",
        "{root}/../outside/new",
        "{root}2/new",
        "link_to_directory/file",
        "link_to_directory/new",
        "link_to_directory/new/deep",
        "link_to_file",
        "dangling_link",
        "link_to_link/new",
        "link_up/outside/new",
        "~/toolwire-must-not-write-here",
        "/dev/null",
        "/proc/self/cwd/../outside/new",
    ],
)
async def test_a_path_that_leads_outside_is_refused(desk: Desk, outside: Path, path: str):
    (desk.root / "a").mkdir()
    (desk.root / "link_to_directory").symlink_to(outside)
    (desk.root / "link_to_file").symlink_to(outside / "file")
    (desk.root / "dangling_link").symlink_to(outside / "new")
    (desk.root / "link_to_link").symlink_to("link_to_directory")
    (desk.root / "link_up").symlink_to("..")
    path = path.format(outside=outside, root=desk.root)
    await desk.call("Read", {"file_path": path})

    for name, arguments in (("Write", {"content": "x"}), ("Edit", {"old_string": "untouched", "new_string": "x"})):
        told = await desk.bad(name, file_path=path, **arguments)
        assert "leads outside the workspace" in told
        assert str(desk.root) in told
    assert os.listdir(outside) == ["file"]
    assert (outside / "file").read_text() == "untouched"


async def test_links_that_stay_inside_are_followed(desk: Desk):
    (desk.root / "real").mkdir()
    (desk.root / "link").symlink_to("real")
    (desk.root / "file_link").symlink_to("real/target")

    await desk.good("Write", file_path="link/x", content="1")
    await desk.good("Write", file_path="file_link", content="2")
    await desk.good("Write", file_path=str(desk.root / "absolute"), content="3")

    assert (desk.root / "real/x").read_text() == "1"
    assert (desk.root / "real/target").read_text() == "2"
    assert (desk.root / "file_link").is_symlink()
    assert (desk.root / "absolute").read_text() == "3"


async def test_a_workspace_that_is_reached_by_a_link_works(desk: Desk, tmp_path: Path):
    (tmp_path / "alias").symlink_to(desk.root)
    other = Desk(tmp_path / "alias")

    await other.good("Write", file_path=str(tmp_path / "alias" / "x"), content="1")

    assert (desk.root / "x").read_text() == "1"


async def test_a_hard_link_does_not_carry_a_write_outside(desk: Desk, outside: Path):
    os.link(outside / "file", desk.root / "twin")
    await desk.good("Read", file_path="twin")

    await desk.good("Edit", file_path="twin", old_string="untouched", new_string="changed")

    assert (desk.root / "twin").read_text() == "changed"
    assert (outside / "file").read_text() == "untouched"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (".", "is the workspace itself"),
        ("a", "is a directory; name a file in it"),
        ("a/", "is the name of a directory"),
        ("file/below", "is not a directory; choose another path"),
        ("pipe", "is not a regular file"),
        ("loop/x", "is not a directory"),
        ("loop", "is not a regular file"),
        ("", "the path is empty"),
        ("a\0b", "NUL character"),
        ("n" * 300, "File name too long"),
    ],
)
async def test_what_is_no_place_for_a_file_is_told(desk: Desk, path: str, told: str):
    (desk.root / "a").mkdir()
    desk.put("file", "x")
    os.mkfifo(desk.root / "pipe")
    (desk.root / "loop").symlink_to("loop")

    assert told in await desk.bad("Write", file_path=path, content="x")


def test_a_directory_that_becomes_a_link_after_the_check_is_not_entered(tmp_path: Path, outside: Path):
    root = tmp_path / "workspace"
    (root / "a").mkdir(parents=True)
    workspace = Swapping(root, lambda: _swap(root / "a", outside))

    with pytest.raises(ToolError, match="'a' in 'a/file' is not a directory"), open_place(workspace, "a/file", True):
        pass


def test_a_file_that_becomes_a_link_after_the_check_is_replaced_and_not_followed(tmp_path: Path, outside: Path):
    root = tmp_path / "workspace"
    root.mkdir()
    with open_place(Workspace(root), "x", create=True) as place:
        (root / "x").symlink_to(outside / "file")
        with pytest.raises(ToolError, match="was created by somebody else meanwhile"):
            replace(place, "x", b"mine", None)
        with pytest.raises(ToolError, match="is not a regular file"):
            read_current(place, "x")

    assert (outside / "file").read_text() == "untouched"


def test_a_file_that_is_changed_between_reading_and_writing_is_not_overwritten(tmp_path: Path):
    (tmp_path / "x").write_text("one")
    with open_place(Workspace(tmp_path), "x", create=False) as place:
        current = read_current(place, "x")
        (tmp_path / "x").write_text("somebody else's")
        with pytest.raises(ToolError, match="was changed by somebody else meanwhile"):
            replace(place, "x", b"mine", current)
        (tmp_path / "x").unlink()
        with pytest.raises(ToolError, match="was deleted meanwhile"):
            replace(place, "x", b"mine", current)

    assert os.listdir(tmp_path) == []


def test_nothing_gets_outside_while_links_are_swapped_all_the_time(tmp_path: Path, outside: Path):
    root = tmp_path / "workspace"
    (root / "real").mkdir(parents=True)
    (root / "door").symlink_to("real")
    workspace, done = Workspace(root), threading.Event()

    def swap() -> None:
        while not done.is_set():
            for target in ("real", str(outside)):
                (root / "next").symlink_to(target)
                os.rename(root / "next", root / "door")

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        for number in range(500):
            try:
                with open_place(workspace, f"door/{number}", create=True) as place:
                    replace(place, "door", b"x", None)
            except (ToolError, WorkspaceEscape, OSError):
                continue
    finally:
        done.set()
        swapping.join()

    assert os.listdir(outside) == ["file"]


class Swapping(Workspace):
    """A workspace in which something happens right after a path was found to be inside."""

    def __init__(self, root: Path, then: Any) -> None:
        super().__init__(root)
        self._then = then

    def contains(self, real: str) -> bool:
        inside = super().contains(real)
        self._then()
        return inside


def _swap(directory: Path, target: Path) -> None:
    directory.rmdir()
    directory.symlink_to(target)
