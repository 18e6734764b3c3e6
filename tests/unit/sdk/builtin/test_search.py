"""`Glob` and `Grep` over real trees, without any other program being installed (sdk.md 1.12)."""

import os
from pathlib import Path

import anyio
import pytest

from tests.unit.sdk.builtin.desk import Desk, set_changed
from toolwire.sdk.builtin.isolated.parent import NoReply, reply_to
from toolwire.sdk.builtin.isolated.request import FilterRequest, GrepRequest, Target


async def test_glob_finds_files_by_name_those_changed_last_first(desk: Desk):
    for number, path in enumerate(["src/a.py", "src/deep/er/b.py", "c.py", "src/d.txt"]):
        set_changed(desk.put(path), seconds_ago=1000 - number)

    assert await desk.good("Glob", pattern="**/*.py") == "c.py\nsrc/deep/er/b.py\nsrc/a.py"
    assert await desk.good("Glob", pattern="*.py") == "c.py"
    assert await desk.good("Glob", pattern="src/**/[ab].{py,txt}") == "src/deep/er/b.py\nsrc/a.py"
    assert await desk.good("Glob", pattern="*.py", path="src") == "src/a.py"
    assert await desk.good("Glob", pattern="*.rs") == "no files found"


async def test_glob_leaves_out_what_git_ignores_and_what_is_hidden(desk: Desk):
    for path in ["a.py", "build/b.py", ".hidden/c.py", ".env", "sub/keep.py", "sub/skip.py", ".git/d.py"]:
        desk.put(path)
    desk.put(".gitignore", "build/\n")
    desk.put("sub/.gitignore", "*.py\n!keep.py\n")

    assert sorted((await desk.good("Glob", pattern="**/*.py")).split("\n")) == ["a.py", "sub/keep.py"]
    assert await desk.good("Glob", pattern=".env*") == ".env"
    assert await desk.good("Glob", pattern=".hidden/*.py") == ".hidden/c.py"
    assert await desk.good("Glob", pattern="*", path=".hidden") == ".hidden/c.py"
    assert await desk.good("Glob", pattern="*.py", path="build") == "build/b.py"


async def test_glob_reaches_outside_and_does_not_follow_links(desk: Desk, tmp_path: Path):
    desk.put("x.py")
    (desk.root / "loop").symlink_to(desk.root)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "y.py").touch()
    (desk.root / "link.py").symlink_to(tmp_path / "outside" / "y.py")

    assert await desk.good("Glob", pattern="**/*.py") == "x.py"
    assert await desk.good("Glob", pattern="*.py", path="../outside") == str(tmp_path / "outside" / "y.py")


async def test_glob_says_when_there_are_more(desk: Desk):
    for number in range(260):
        desk.put(f"{number}.txt")

    lines = (await desk.good("Glob", pattern="*.txt")).split("\n")

    assert len(lines) == 251
    assert lines[-1] == "(showing the 250 files changed last of 260; use a narrower pattern)"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"pattern": ""}, "the pattern is empty"),
        ({"pattern": "/etc/*"}, "begins with /; give the directory as path"),
        ({"pattern": "../*"}, "has .. in it; give the directory as path"),
        ({"pattern": "[z-a]"}, "bad pattern '[z-a]'"),
        ({"pattern": "{a,b}" * 12}, "stand for more than 1000 patterns"),
        ({"pattern": "*", "path": "nope"}, "Glob: no such file: 'nope'"),
        ({"pattern": "*", "path": "file"}, "Glob: 'file' is not a directory"),
        ({"pattern": "a\0b"}, "NUL character"),
    ],
)
async def test_glob_says_what_is_wrong_with_a_pattern(desk: Desk, arguments: dict[str, str], told: str):
    desk.put("file")

    assert told in await desk.bad("Glob", **arguments)


async def test_grep_names_files_shows_lines_or_counts(desk: Desk):
    desk.put("a.py", "import os\nx = 1\nimport sys\n")
    desk.put("b.txt", "import nothing\n")
    desk.put("c.txt", "else\n")

    assert await desk.good("Grep", pattern="^import") == "a.py\nb.txt"
    assert await desk.good("Grep", pattern="import (o|s)", output_mode="content") == (
        "a.py:1:import os\na.py:3:import sys"
    )
    assert await desk.good("Grep", pattern="import", output_mode="count") == "a.py:2\nb.txt:1"
    assert await desk.good("Grep", pattern="import", type="python", output_mode="count") == "a.py:2"
    assert await desk.good("Grep", pattern="import", glob="*.txt") == "b.txt"
    assert await desk.good("Grep", pattern="import", glob="!*.txt") == "a.py"
    assert await desk.good("Grep", pattern="IMPORT") == "no matches found"
    assert await desk.good("Grep", pattern="IMPORT", **{"-i": True}) == "a.py\nb.txt"
    assert await desk.good("Grep", pattern="n(othing)", path="b.txt", output_mode="content", **{"-o": True}) == (
        "b.txt:1:nothing"
    )
    assert await desk.good("Grep", pattern="else", output_mode="content", **{"-n": False}) == "c.txt:else"


async def test_grep_shows_lines_around_and_puts_a_line_between_stretches(desk: Desk):
    desk.put("x", "".join(f"{number}\n" for number in range(1, 13)))

    found = await desk.good("Grep", pattern="^(2|3|6|10)$", output_mode="content", **{"-A": 1, "-B": 1})

    assert found.split("\n") == [
        "x-1-1", "x:2:2", "x:3:3", "x-4-4", "x-5-5", "x:6:6", "x-7-7", "--", "x-9-9", "x:10:10", "x-11-11"
    ]  # fmt: skip
    around = await desk.good("Grep", pattern="^12$", output_mode="content", context=2)
    assert around.split("\n") == ["x-10-10", "x-11-11", "x:12:12"]


async def test_grep_gives_a_part_and_goes_on_from_there(desk: Desk):
    desk.put("x", "hit\n" * 300)

    first = (await desk.good("Grep", pattern="hit", output_mode="content")).split("\n")
    rest = (await desk.good("Grep", pattern="hit", output_mode="content", offset=250)).split("\n")
    everything = (await desk.good("Grep", pattern="hit", output_mode="content", head_limit=0)).split("\n")

    assert (len(first), len(rest), len(everything)) == (251, 50, 300)
    assert first[-1] == "(there is more; go on with offset=250, or search more narrowly)"
    assert await desk.good("Grep", pattern="hit", offset=7) == "no further matches after offset=7"


async def test_grep_across_lines(desk: Desk):
    desk.put("x", "def f(\n    a,\n):\n    pass\n")

    arguments = {"pattern": r"f\(.*?\)", "multiline": True, "output_mode": "content"}
    assert await desk.good("Grep", pattern=r"f\(.*?\)") == "no matches found"
    assert await desk.good("Grep", **arguments) == "x:1:def f(\nx:2:    a,\nx:3:):"
    assert await desk.good("Grep", **arguments, **{"-o": True}) == "x:1:f(\nx:2:    a,\nx:3:)"


@pytest.mark.parametrize("pattern", [r"\Atwo\Z", "(?<!x)two$", "two(?!\n)", "^two$", r"tw[^x]*+", r"(?-m:^)two"])
async def test_grep_looks_at_each_line_alone(desk: Desk, pattern: str):
    desk.put("x", "one\r\ntwo\r\nthree\r\n")

    assert await desk.good("Grep", pattern=pattern, output_mode="content") == "x:2:two"


async def test_grep_leaves_out_ignored_hidden_and_binary_files_unless_told(desk: Desk):
    for path in ["seen", "ignored", ".hidden", ".dir/x"]:
        desk.put(path, "needle\n")
    desk.put("binary", b"needle\0")
    desk.put("wide", "needle\n".encode("utf-16"))
    desk.put(".gitignore", "ignored\n")
    os.mkfifo(desk.root / "pipe")
    (desk.root / "link").symlink_to("seen")

    assert await desk.good("Grep", pattern="needle") == "seen\nwide"
    assert sorted((await desk.good("Grep", pattern="needle", **{"-u": True})).split("\n")) == [
        ".dir/x", ".hidden", "ignored", "seen", "wide"
    ]  # fmt: skip
    assert await desk.good("Grep", pattern="needle", path=".dir") == ".dir/x"
    assert await desk.good("Grep", pattern="needle", path="ignored") == "ignored"


async def test_grep_cuts_long_lines(desk: Desk):
    desk.put("x.js", "hit" + "y" * 5000)

    assert (await desk.good("Grep", pattern="hit", output_mode="content")).endswith("… [4003 more characters]")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"pattern": ""}, "the pattern is empty"),
        ({"pattern": "a("}, "is not a regular expression: missing )"),
        ({"pattern": "a", "type": "klingon"}, "there is no file type 'klingon'; use glob, or one of"),
        ({"pattern": "a", "path": "nope"}, "Grep: no such file: 'nope'"),
        ({"pattern": "a", "glob": "[z-a]"}, "bad pattern"),
        ({"pattern": "a{99999999999999}"}, "is not a regular expression"),
        ({"pattern": "a", "output_mode": "x"}, "output_mode"),
    ],
)
async def test_grep_says_what_is_wrong(desk: Desk, arguments: dict[str, str], told: str):
    assert told in await desk.bad("Grep", **arguments)


async def test_names_that_are_no_unicode_are_found(desk: Desk):
    desk.put("caf\udce9.txt", "needle")

    assert await desk.good("Grep", pattern="needle") == "caf\udce9.txt"
    assert await desk.good("Read", file_path="caf\udce9.txt") == "     1\tneedle"


async def test_a_pattern_that_never_ends_is_stopped_and_the_loop_goes_on_meanwhile():
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await anyio.lowlevel.checkpoint()
            ticks += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tick)
        with pytest.raises(NoReply, match=r"took longer than 0\.5 s and was stopped"):
            await reply_to(FilterRequest("(a+)+$", ["a" * 60 + "b"]), limit_s=0.5)
        tasks.cancel_scope.cancel()

    assert ticks > 10


async def test_a_cancelled_search_returns_at_once():
    with anyio.fail_after(5), anyio.move_on_after(0.2) as scope:
        await reply_to(FilterRequest("(a+)+$", ["a" * 60 + "b"]))

    assert scope.cancelled_caught


async def test_a_search_that_has_no_time_tells_what_it_missed(tmp_path: Path):
    (tmp_path / "x").write_text("hit")
    request = GrepRequest(
        Target(str(tmp_path), ""), "hit", "content", None, None, False, True, False, False, 0, 0, 0, 0, False, -1.0
    )

    reply = await reply_to(request)

    assert reply.notes == ["the time was over before everything was searched; give a narrower path or pattern"]
