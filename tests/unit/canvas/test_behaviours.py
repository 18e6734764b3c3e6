"""Every behaviour that the page asks for has tests that name its number, and every number that tests name is one."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.unit.canvas.behaviours import BEHAVIOURS

ROOT = Path(__file__).parents[3]
SAID = frozenset({1, 2, 3, 4, 6, 8, 9, 10, 13, 14, 15, 18, 19, 21, 22, 23, 25, 26, 28, 29, *range(30, 38)}) | frozenset(
    {*range(40, 52), 53, 54, 55, 56, 57, 59, 60, 61, 63, 64, 66, 67, 69, 70, 72, 73, 75, 77, 78, 79}
)
"""The numbers of cards.md §1 that are tagged [P]: the page says so."""
WHERE = ("tests/unit/canvas", "tests/unit/card", "tests/e2e", "tests/card_sdk", "tests/unit/cli", "tests/unit/testing")
_NUMBERS = re.compile(r"cards\.md\s+(\d+(?:-\d+)?(?:,\s*\d+(?:-\d+)?)*)")
_TITLE = re.compile(r"""^(?:test(?:\.each\(.*\))?|\]\s*(?:as const)?\))\(\s*(["'`])(.+?)\1""", re.MULTILINE)


def numbers_in(text: str) -> set[int]:
    found: set[int] = set()
    for listed in _NUMBERS.findall(text):
        for part in listed.split(","):
            first, _, last = part.strip().partition("-")
            found |= set(range(int(first), int(last or first) + 1))
    return found


@cache
def cases_in(path: str) -> dict[str, set[int]]:
    """The tests of a file by name or title, with the numbers that each names, or its file for all of them."""
    text = (ROOT / path).read_text("utf-8")
    if not path.endswith(".py"):
        head = numbers_in("\n".join(re.findall(r"^/\*\*.*?\*/", text, re.MULTILINE | re.DOTALL)))
        return {title: head | numbers_in(title) for _, title in _TITLE.findall(text)}
    module = ast.parse(text)
    head = numbers_in(ast.get_docstring(module) or "")
    return {
        node.name: head | numbers_in(ast.get_source_segment(text, node) or "")
        for node in module.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


def named(test: str) -> set[int] | None:
    """The numbers that a test names; `None` if it is not there. A title may be given by its beginning."""
    path, _, name = test.partition("::")
    if path.endswith((".ts", ".tsx")):
        return next((numbers for title, numbers in cases_in(path).items() if title.startswith(name)), None)
    files = [path] if path.endswith(".py") else in_folder(path)
    return next((cases_in(file)[name] for file in files if name in cases_in(file)), None)


def in_folder(folder: str) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in sorted((ROOT / folder).rglob("test_*.py"))]


def test_every_behaviour_that_the_page_says_is_here() -> None:
    assert SAID - set(BEHAVIOURS) == set()


@pytest.mark.parametrize("number", BEHAVIOURS)
def test_its_tests_are_there_and_name_it(number: int) -> None:
    behaviour = BEHAVIOURS[number]
    assert behaviour.words.endswith(".")
    assert behaviour.tests
    assert {test: named(test) for test in behaviour.tests if number not in (named(test) or ())} == {}


def test_numbers_that_tests_name_are_those_of_behaviours() -> None:
    others = {81, 82, 83, 84, 85, 86, 7}  # facts about public cards
    strange = {
        (path, name): numbers - set(BEHAVIOURS) - others
        for path in paths()
        for name, numbers in cases_in(path).items()
        if numbers - set(BEHAVIOURS) - others
    }
    assert strange == {}


def paths() -> Iterator[str]:
    for folder in WHERE:
        yield from in_folder(folder)
    yield from (str(path.relative_to(ROOT)) for path in sorted((ROOT / "packages/card-sdk/tests").glob("*.test.ts*")))
