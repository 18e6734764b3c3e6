"""Every fault of mcp.md 5 has its tests, and every test that names one names a fault that is there."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.interaction.reported_faults import FAULTS, NUMBERS
from tests.interaction.requirements import REQUIREMENTS, proves

TESTS = Path(__file__).parents[1]
NAMED = re.compile(r"\bS(\d+)(?:-S(\d+))?\b")
PROVED = re.compile(r'@proves\("([^"]+)"')


def named_in(text: str) -> set[int]:
    """The numbers that stand behind `mcp.md` on a line: `mcp.md S7, S10` and `mcp.md S1-S6`."""
    found: set[int] = set()
    for line in text.splitlines():
        _, _, rest = line.partition("mcp.md")
        for first, last in NAMED.findall(rest):
            found |= {number for number in range(int(first), int(last or first) + 1) if last == "" or number in NUMBERS}
    return found


@cache
def described_in(path: Path) -> dict[str, str]:
    """The tests of a file, with what they say of themselves: their own text, their file's, their requirements'."""
    text = path.read_text("utf-8")
    tree, lines = ast.parse(text), text.splitlines()
    about = ast.get_docstring(tree) or ""
    found: dict[str, str] = {}
    for test in tree.body:
        if isinstance(test, ast.FunctionDef | ast.AsyncFunctionDef) and test.name.startswith("test_"):
            first = min([test.lineno, *(decorator.lineno for decorator in test.decorator_list)])
            own = "\n".join(lines[first - 1 : test.end_lineno])
            proved = [REQUIREMENTS[name].source for name in PROVED.findall(own)]
            found[test.name] = "\n".join([about.replace("\n", " "), own, *proved])
    return found


@proves("faults.tested")
def test_every_reported_fault_has_a_row():
    assert tuple(sorted(FAULTS)) == NUMBERS


@proves("faults.tested")
def test_every_row_has_tests_that_are_there_and_name_it():
    wrong: list[str] = []
    for number, fault in FAULTS.items():
        assert fault.symptom.endswith(".")
        assert fault.tests, number
        for where, test in fault.tests.items():
            path, _, name = test.partition("::")
            said = described_in(TESTS / path).get(name)
            if said is None:
                wrong.append(f"S{number}, {where}: {test} is not there")
            elif number not in named_in(said):
                wrong.append(f"S{number}, {where}: {test} does not name it")
    assert wrong == []


@proves("faults.tested")
def test_every_number_that_a_test_or_a_requirement_names_is_a_row():
    named = {
        number: path.name
        for path in TESTS.rglob("test_*.py")
        for said in described_in(path).values()
        for number in named_in(said)
    }
    named |= {number: name for name, requirement in REQUIREMENTS.items() for number in named_in(requirement.source)}
    assert {number: where for number, where in named.items() if number not in FAULTS} == {}
