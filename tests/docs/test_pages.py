"""What holds for every page: copies of files are exact, links lead somewhere, and what is Python is Python."""

import ast
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, blocks, links


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_to_files_that_are_there(page: Path):
    broken = [target for target in links(page.read_text("utf-8")) if not (page.parent / target).exists()]
    assert broken == []


@pytest.mark.parametrize("page", [page for page in PAGES if "adr" not in page.parts], ids=name_of)
def test_blocks_are_copies_of_files_that_are_tested(page: Path):
    for block in blocks(page.read_text("utf-8")):
        if block.source is not None:
            assert block.text == (ROOT / block.source).read_text("utf-8"), f"{block.source} and its copy differ"
        elif block.language == "python":
            ast.parse(block.text)
            assert page.name == "README.md", f"name the file that this is a copy of: {block.text[:60]!r}"


def test_every_snippet_stands_on_a_page():
    shown = {block.source for page in PAGES for block in blocks(page.read_text("utf-8"))}
    snippets = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs_src").rglob("*.py")}
    assert snippets <= shown
