"""scripts/lint_sizes.py finds what is too long."""

from pathlib import Path

import pytest

from scripts import lint_sizes


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def test_a_module_at_the_limit_passes_and_one_line_more_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    write(tmp_path / "src/toolwire/engine/record.py", "x = 1\n" * 400)
    assert lint_sizes.main(tmp_path) == 0

    write(tmp_path / "src/toolwire/engine/record.py", "x = 1\n" * 401)
    assert lint_sizes.main(tmp_path) == 1
    assert capsys.readouterr().out.startswith("src/toolwire/engine/record.py:1: 401 lines, at most 400")


def test_a_test_module_may_have_450_lines_and_no_more(tmp_path: Path):
    write(tmp_path / "tests/unit/test_long.py", "x = 1\n" * 450)
    assert lint_sizes.main(tmp_path) == 0

    write(tmp_path / "tests/unit/test_long.py", "x = 1\n" * 451)
    assert lint_sizes.main(tmp_path) == 1


def test_a_function_at_the_limit_passes_and_one_line_more_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    write(tmp_path / "src/toolwire/a.py", "class A:\n    async def grow(self):\n" + "        x = 1\n" * 59)
    assert lint_sizes.main(tmp_path) == 0

    write(tmp_path / "src/toolwire/a.py", "class A:\n    async def grow(self):\n" + "        x = 1\n" * 60)
    assert lint_sizes.main(tmp_path) == 1
    assert capsys.readouterr().out.startswith("src/toolwire/a.py:2: grow() has 61 lines, at most 60")


def test_a_docstring_does_not_count_as_length_of_its_function(tmp_path: Path):
    docstring = '    """A contract.\n' + "\n    More of it." * 60 + '\n    """\n'
    write(tmp_path / "src/toolwire/a.py", "def keep():\n" + docstring + "    x = 1\n" * 59)
    assert lint_sizes.main(tmp_path) == 0


def test_no_comment_excuses_a_long_module(tmp_path: Path):
    write(tmp_path / "src/toolwire/a.py", "# noqa\n# lint_sizes: ignore\n" + "x = 1  # noqa\n" * 400)
    assert lint_sizes.main(tmp_path) == 1
