"""`Edit` and `Write` change real files at once, and only what was seen before (sdk.md 1.12)."""

import os
import stat

import pytest

from tests.unit.sdk.builtin.desk import Desk


async def test_an_edit_is_on_disk_when_the_call_has_ended(desk: Desk):
    file = desk.put("x.py", "a = 1\nb = 2\nc = 3\n")
    await desk.good("Read", file_path="x.py")

    result = await desk.call("Edit", {"file_path": "x.py", "old_string": "b = 2", "new_string": "b = 5"})

    assert file.read_text() == "a = 1\nb = 5\nc = 3\n"
    assert result.output == "x.py was changed:\n     1\ta = 1\n     2\tb = 5\n     3\tc = 3"
    assert result.file_changes == [{"path": "x.py", "kind": "edit", "added": 1, "removed": 1}]


async def test_a_change_leaves_a_diff_that_patch_understands(desk: Desk):
    desk.put("x.py", "".join(f"line {number}\n" for number in range(1, 31)))
    await desk.good("Read", file_path="x.py")

    result = await desk.call(
        "Edit", {"file_path": "x.py", "old_string": "line 1", "new_string": "LINE 1", "replace_all": True}
    )

    (ref,) = result.artifacts
    assert ref.media_type == "text/x-diff"
    diff = desk.store.get(ref).decode()
    assert diff.startswith("--- a/x.py\n+++ b/x.py\n@@ -1,4 +1,4 @@\n-line 1\n+LINE 1\n line 2\n")
    assert "@@ -7,16 +7,16 @@" in diff
    assert str(result.output).startswith("x.py was changed in 11 places:")


async def test_a_file_must_have_been_read_by_this_task(desk: Desk):
    file = desk.put("x", "old")
    edit = {"file_path": "x", "old_string": "old", "new_string": "new"}
    await desk.call("Read", {"file_path": "x"}, task_id="task-2")

    assert await desk.bad("Edit", **edit) == "Edit: 'x' was not read yet; Read it first, then try again"
    assert await desk.bad("Write", file_path="x", content="new") == (
        "Write: 'x' was not read yet; Read it first, then try again"
    )
    assert file.read_text() == "old"
    assert (await desk.call("Edit", edit, task_id="task-2")).success


async def test_a_file_that_has_changed_since_must_be_read_again(desk: Desk):
    file = desk.put("x", "old")
    await desk.good("Read", file_path="x")
    await desk.good("Bash", command="echo other > x")

    assert "has changed since it was read; Read it again" in await desk.bad(
        "Edit", file_path="x", old_string="other", new_string="new"
    )
    assert "has changed since it was read; Read it again" in await desk.bad("Write", file_path="x", content="new")
    assert file.read_text() == "other\n"


async def test_ones_own_changes_need_no_second_read(desk: Desk):
    await desk.good("Write", file_path="x", content="one")
    await desk.good("Edit", file_path="x", old_string="one", new_string="two")
    await desk.good("Write", file_path="x", content="three")
    await desk.good("Edit", file_path="./sub/../x", old_string="three", new_string="four")

    assert (desk.root / "x").read_text() == "four"


async def test_a_new_file_needs_no_read_and_its_directories_are_made(desk: Desk):
    result = await desk.call("Write", {"file_path": "a/b/c.txt", "content": "1\n2\n"})

    assert (desk.root / "a/b/c.txt").read_text() == "1\n2\n"
    assert result.output == "a/b/c.txt was created: 2 lines, 4 bytes"
    assert result.file_changes == [{"path": "a/b/c.txt", "kind": "create", "added": 2, "removed": 0}]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("", "x", "old_string is empty"),
        ("one", "one", "are the same; nothing would change"),
        ("zero", "x", "Read the file again and copy the text exactly"),
        ("     1\tone\n     2\t  two", "x", "without the line numbers"),
        ("one\ntwo", "x", "Line 1 differs from it in whitespace only"),
        ("aa", "x", "is in the file 2 times (in lines 3, 3)"),
        ("o", "x", "is in the file 2 times (in lines 1, 2)"),
        ("-", "x", "more than 10 times (in lines 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, …)"),
        ("one", "\ud800", "characters that cannot be written"),
    ],
)
async def test_what_does_not_fit_changes_nothing_and_says_why(desk: Desk, old: str, new: str, told: str):
    body = "one\n  two\naaa\n" + "-" * 20
    file = desk.put("x", body)
    await desk.good("Read", file_path="x")

    assert told in await desk.bad("Edit", file_path="x", old_string=old, new_string=new)
    assert file.read_text() == body


async def test_line_ends_and_marks_of_a_file_stay(desk: Desk):
    file = desk.put("x.txt", b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n")
    await desk.good("Read", file_path="x.txt")

    await desk.good("Edit", file_path="x.txt", old_string="one\ntwo", new_string="1\n2")

    assert file.read_bytes() == b"\xef\xbb\xbf1\r\n2\r\nthree\r\n"


async def test_mixed_line_ends_are_left_as_they_are(desk: Desk):
    file = desk.put("x.txt", b"one\r\ntwo\nthree\r\n")
    await desk.good("Read", file_path="x.txt")

    await desk.good("Edit", file_path="x.txt", old_string="two", new_string="2")

    assert file.read_bytes() == b"one\r\n2\nthree\r\n"


@pytest.mark.parametrize("body", [b"caf\xe9 one", b"\0one", b"\xff\xfeo"])
async def test_what_would_be_damaged_is_not_edited(desk: Desk, body: bytes):
    file = desk.put("x", body)
    await desk.call("Read", {"file_path": "x"})
    desk.services.task(desk.context()).reads.note(str(file), body)

    assert "is not a text in UTF-8 or UTF-16" in await desk.bad(
        "Edit", file_path="x", old_string="one", new_string="two"
    )
    assert file.read_bytes() == body


async def test_the_mode_of_a_file_stays_and_a_read_only_one_is_left_alone(desk: Desk):
    script = desk.put("run.sh", "echo 1")
    script.chmod(0o755)
    guarded = desk.put("guarded", "1")
    guarded.chmod(0o444)
    await desk.good("Read", file_path="run.sh")
    await desk.good("Read", file_path="guarded")

    await desk.good("Edit", file_path="run.sh", old_string="1", new_string="2")

    assert stat.S_IMODE(script.stat().st_mode) == 0o755
    assert "is read-only; ask the user" in await desk.bad("Edit", file_path="guarded", old_string="1", new_string="2")


async def test_a_missing_file_is_told_and_no_directory_is_made_for_it(desk: Desk):
    assert await desk.bad("Edit", file_path="a/x", old_string="1", new_string="2") == (
        "Edit: no such file: 'a/x'; find it with Glob or Grep"
    )
    assert not (desk.root / "a").exists()


async def test_nothing_is_left_beside_a_file_that_was_written(desk: Desk):
    await desk.good("Write", file_path="x", content="1")
    await desk.good("Write", file_path="x", content="2")

    assert os.listdir(desk.root) == ["x"]


async def test_a_large_change_is_shown_without_its_middle(desk: Desk):
    desk.put("x", "start\n")
    await desk.good("Read", file_path="x")

    shown = await desk.good(
        "Edit", file_path="x", old_string="start", new_string="\n".join(str(number) for number in range(5000))
    )

    assert "… 4940 lines …" in shown
    assert len(shown.split("\n")) == 62


async def test_a_rewrite_of_a_large_file_is_compared_in_one_piece(desk: Desk):
    desk.put("x", "".join(f"{number}\n" for number in range(20_000)))
    await desk.good("Read", file_path="x")

    result = await desk.call("Write", {"file_path": "x", "content": "".join(f"-{n}\n" for n in range(20_000))})

    assert result.file_changes == [{"path": "x", "kind": "replace", "added": 20_000, "removed": 20_000}]
