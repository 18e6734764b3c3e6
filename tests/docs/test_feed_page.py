"""docs/reference/feed.md names every kind of moment, and none that there is not."""

import re

from tests.docs.pages import ROOT, read, rows
from toolwire.canvas.confirmations import Outcome
from toolwire.surfaces.feed import KEPT_MOMENTS, RESET

PAGE = read("docs/reference/feed.md")
_TELLS = re.compile(r"""feed\.tell\(\s*[\w.]+(?:\(\))?,\s*"(\w+)",""")


def test_every_kind_of_moment_has_a_row():
    canvas = (ROOT / "src/toolwire/canvas").rglob("*.py")
    told = {kind for path in canvas for kind in _TELLS.findall(path.read_text("utf-8"))}
    assert {row[0].strip("`") for row in rows(PAGE)} == told | {RESET}


def test_what_it_says_of_numbers_and_words_is_so():
    assert f"latest\n{KEPT_MOMENTS} moments" in PAGE
    assert all(f"`{outcome}`" in PAGE for outcome in Outcome.__args__)
