"""Every requirement is proved on all its cells, and every test here proves one."""

import importlib
from collections import defaultdict
from pathlib import Path
from types import ModuleType

from tests.interaction.requirements import REQUIREMENTS, Cell, proofs_of

HERE = Path(__file__)


def modules() -> list[ModuleType]:
    names = [path.stem for path in HERE.parent.glob("test_*.py") if path.stem != HERE.stem]
    return [importlib.import_module(f"tests.interaction.{name}") for name in sorted(names)]


def proofs_by_test() -> dict[str, list[tuple[str, frozenset[Cell]]]]:
    return {
        f"{module.__name__}.{name}": proofs_of(value)
        for module in modules()
        for name, value in vars(module).items()
        if name.startswith("test_")
    }


def test_every_test_names_a_requirement():
    assert [name for name, proofs in proofs_by_test().items() if not proofs] == []


def test_every_requirement_is_proved_wherever_it_holds():
    proved: dict[str, set[Cell]] = defaultdict(set)
    for proofs in proofs_by_test().values():
        for requirement, cells in proofs:
            proved[requirement] |= cells
    missing = {
        name: [cell.value for cell in requirement.cells - proved[name]]
        for name, requirement in REQUIREMENTS.items()
        if requirement.cells - proved[name]
    }
    assert missing == {}


def test_no_test_claims_a_cell_on_which_its_requirement_does_not_hold():
    beyond = {
        (name, requirement)
        for name, proofs in proofs_by_test().items()
        for requirement, cells in proofs
        if cells - REQUIREMENTS[requirement].cells
    }
    assert beyond == set()


def test_every_requirement_says_where_it_is_written():
    assert all(requirement.text.endswith(".") and requirement.source for requirement in REQUIREMENTS.values())
