"""Reads the documentation's pages for the tests that prove them; it judges nothing."""

import re
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])

_BLOCK = re.compile(r"(?:<!-- (?P<source>\S+) -->\n)?```(?P<language>\w+)\n(?P<text>.*?)```", re.DOTALL)
_LINK = re.compile(r"\[[^\]]+\]\((?!https?:)(?P<target>[^)#]+)[^)]*\)")
_ROW = re.compile(r"^\| (?P<cells>.*) \|$", re.MULTILINE)


class Block(Struct, frozen=True):
    """A block of code on a page; `source` is the file it is a copy of, if it says so."""

    language: str
    text: str
    source: str | None = None


def read(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def blocks(text: str) -> list[Block]:
    return [Block(found["language"], found["text"], found["source"]) for found in _BLOCK.finditer(text)]


def links(text: str) -> list[str]:
    return [found["target"] for found in _LINK.finditer(text)]


def rows(text: str) -> list[list[str]]:
    """The rows of all tables, headings left out, cell by cell."""
    split = [[cell.strip() for cell in found["cells"].split(" | ")] for found in _ROW.finditer(text)]
    return [cells for cells in split if cells[0].startswith("`")]


def section(text: str, heading: str) -> str:
    """What stands below a heading of the second level."""
    _, _, rest = text.partition(f"\n## {heading}\n")
    return rest.partition("\n## ")[0]
