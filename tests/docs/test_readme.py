"""README.md: the first things first, and ten lines that are the tested ones."""

from tests.docs.pages import ROOT, blocks, read

README = read("README.md")


def test_make_run_and_make_test_come_first():
    first = blocks(README)[0]
    assert [line.split("#")[0].strip() for line in first.text.splitlines()] == ["make run", "make test"]


def test_its_agent_is_the_example_and_has_about_ten_lines():
    (python,) = [block for block in blocks(README) if block.language == "python"]

    assert python.text == (ROOT / "examples" / "hello.py").read_text("utf-8")
    assert len(python.text.splitlines()) <= 10


def test_the_package_shows_it():
    assert 'readme = "README.md"' in read("pyproject.toml")
