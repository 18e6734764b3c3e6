"""The child process answers what the same functions answer here, and its troubles are told."""

import os
from pathlib import Path

import msgspec
import pytest

from toolwire.sdk.builtin.isolated import content
from toolwire.sdk.builtin.isolated.child import answer
from toolwire.sdk.builtin.isolated.parent import reply_to
from toolwire.sdk.builtin.isolated.request import (
    FilterRequest,
    GlobRequest,
    GrepRequest,
    MarkdownRequest,
    Reply,
    Request,
    Target,
    from_json,
    to_json,
)

C = "sub/deep/c.txt"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with a bit of everything; the search begins in its directory `src`."""
    root = tmp_path / "src"
    (tmp_path / ".git").mkdir()
    (root / "sub" / "deep").mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("/src/sub/out.txt\n*.tmp\n")
    (root / "sub" / ".gitignore").write_text("!kept.tmp\n")
    for path in ("a.txt", "b.py", "sub/out.txt", "sub/kept.tmp", "x.tmp", ".hidden", "sub/deep/c.txt"):
        (root / path).write_text(f"one {path}\ntwo\nthree two\n")
    (root / "binary").write_bytes(b"two\0")
    (root / "wide").write_bytes("two\n".encode("utf-16"))
    os.mkfifo(root / "pipe")
    return root


def a_grep(root: Path, pattern: str = "two", show: str = "content", **changes: object) -> GrepRequest:
    """A search of everything in `root`, changed as wanted."""
    request = GrepRequest(
        target=Target(str(root), "src"),
        pattern=pattern,
        show=show,
        glob=None,
        file_type=None,
        ignore_case=False,
        numbers=True,
        only_matching=False,
        unrestricted=False,
        before=0,
        after=0,
        head_limit=0,
        offset=0,
        multiline=False,
        budget_s=20,
    )
    return request._replace(**changes)


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({"show": "files_with_matches"}, "a.txt b.py wide sub/kept.tmp sub/deep/c.txt"),
        (
            {"show": "files_with_matches", "unrestricted": True},
            ".hidden a.txt b.py wide x.tmp sub/kept.tmp sub/out.txt sub/deep/c.txt",
        ),
        ({"show": "count", "file_type": "txt"}, "a.txt:2 sub/deep/c.txt:2"),
        ({"glob": "sub/**/*.txt", "only_matching": True, "pattern": "t.o"}, f"{C}:2:two {C}:3:two"),
        ({"glob": "[ab].*", "head_limit": 2, "offset": 1}, "a.txt:3:three two\nb.py:2:two"),
        ({"glob": "a.*", "before": 1}, "a.txt-1-one a.txt\na.txt:2:two\na.txt:3:three two"),
        ({"glob": "a.*", "multiline": True, "pattern": "two.three"}, "a.txt:2:two\na.txt:3:three two"),
        ({"glob": "a.*", "multiline": True, "pattern": "wo.th", "only_matching": True}, "a.txt:2:wo\na.txt:3:th"),
        ({"glob": "a.*", "pattern": r"^\Stwo|(?<=o)$", "numbers": False}, "a.txt:two\na.txt:three two"),
    ],
)
async def test_a_search_is_the_same_here_and_there(tree: Path, changes: dict[str, object], lines: str):
    request = a_grep(tree, **changes)  # pyright: ignore[reportArgumentType] - whatever is to be changed

    here = answer(request)

    between = "\n" if "\n" in lines else " "
    assert here.lines == [f"src/{line}" for line in lines.split(between)]
    assert await reply_to(request) == here


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("**/*.t*", "a.txt sub/deep/c.txt sub/kept.tmp"),
        ("sub/*/*", "sub/deep/c.txt"),
        (".h*", ".hidden"),
        ("nowhere/*", ""),
    ],
)
async def test_names_are_found_the_same_here_and_there(tree: Path, pattern: str, names: str):
    request = GlobRequest(Target(str(tree), ""), pattern, 10, 20)

    here = answer(request)

    assert sorted(here.lines) == names.split()
    assert await reply_to(request) == here
    assert answer(request._replace(limit=0)).lines == []


async def test_a_page_is_converted_the_same_here_and_there():
    request = MarkdownRequest("<h1>T</h1><a href=x>y</a>", "https://ex.org/", 1000)

    assert answer(request) == Reply(["# T\n\n[y](https://ex.org/x)"], [])
    assert await reply_to(request) == answer(request)


@pytest.mark.parametrize("request_", [FilterRequest("(", ["x"]), GlobRequest(Target("/", ""), "{a,b}" * 20, 1, 1)])
async def test_a_wrong_pattern_is_told_by_both(request_: Request):
    here = answer(request_)

    assert here.error
    assert await reply_to(request_) == here


def test_a_single_file_is_searched_under_its_name(tree: Path):
    request = a_grep(tree)._replace(target=Target(str(tree / "x.tmp"), "src/x.tmp"))

    assert answer(request).lines == ["src/x.tmp:2:two", "src/x.tmp:3:three two"]


def test_what_could_not_be_read_is_counted(tree: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(content, "MAX_FILE_BYTES", 20)
    gone = a_grep(tree)._replace(target=Target(str(tree / "gone"), "gone"))

    assert answer(a_grep(tree)).notes == ["4 files of more than 0 MiB were not searched"]
    assert answer(gone).notes == ["1 files could not be read"]


def test_an_answer_has_a_size(tree: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(content, "MAX_OUTPUT", 30)

    reply = answer(a_grep(tree))

    assert len(reply.lines) == 2
    assert reply.notes == ["there is more; go on with offset=2, or search more narrowly"]


def test_requests_survive_the_way(tree: Path):
    for request in (a_grep(tree), GlobRequest(Target("/", ""), "*", 1, 1), FilterRequest("a", ["b"])):
        assert from_json(msgspec.json.decode(msgspec.json.encode(to_json(request)))) == request
