"""Importing the module that a command names."""

import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from toolwire.cli import modules
from toolwire.cli.failure import Failed


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    before = dict(sys.modules)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in set(sys.modules) - set(before):
        del sys.modules[name]


def test_a_dotted_module_is_found_in_the_current_folder(tmp_path: Path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "tools.py").write_text("x = 1\n")

    module, name = modules.load("mine.tools:x")

    assert (module.__name__, name, modules.find(module, "x")) == ("mine.tools", "x", 1)


def test_a_file_is_found_by_its_path_and_may_import_its_neighbours(tmp_path: Path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "beside_me.py").write_text("y = 2\n")
    (tmp_path / "far" / "mine_too.py").write_text("from beside_me import y\nclass C:\n    z = y\n")

    module, name = modules.load("far/mine_too.py")

    assert (module.__name__, name) == ("mine_too", None)
    assert modules.find(module, "C.z") == 2
    assert modules.public_names(module) == ["y", "C"]


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("gone", r"there is no module 'gone' in .* or among the installed ones"),
        ("gone.py", r"there is no file 'gone.py'"),
        ("gone/mine.py:x", r"there is no file 'gone/mine.py'"),
        ("./here", r"there is no file 'here'; did you mean here.py\?"),
        ("", r"'' names no module; give MODULE or MODULE:NAME"),
    ],
)
def test_a_module_that_is_not_there_is_told_so(spec: str, problem: str, tmp_path: Path):
    (tmp_path / "here.py").write_text("")

    with pytest.raises(Failed, match=problem):
        modules.load(spec)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("\nx = 1 +\n", r"broken.py, line 2: SyntaxError: invalid syntax"),
        ("def f():\n    return y\nf()\n", r"broken.py, line 2: NameError: name 'y' is not defined"),
        ("import not_there_at_all\n", r"broken.py, line 1: ModuleNotFoundError: No module named 'not_there_at_all'"),
        ("raise SystemExit(3)\n", r"broken.py, line 1: SystemExit: 3"),
        ("from toolwire.sdk import tool\n@tool(name='a b')\ndef f(): ...\n", r"broken.py, line 2: .*Error: "),
    ],
)
def test_a_module_that_cannot_be_imported_is_told_where_it_stumbles(source: str, problem: str, tmp_path: Path):
    (tmp_path / "broken.py").write_text(source)

    with pytest.raises(Failed, match=problem):
        modules.load("broken")


def test_a_name_that_is_not_there_is_answered_with_those_that_are(tmp_path: Path):
    (tmp_path / "names.py").write_text("import os\na = b = 1\n_c = 2\n")
    module, _ = modules.load("names")

    with pytest.raises(Failed, match=r"'names' has no 'x'; it has a, b"):
        modules.find(module, "x")
