"""The TypeScript package of cards: its types are those of the wire, it compiles in strict mode, and its tests pass."""

import json

from scripts.make_card_types import TARGET, protocol_text
from tests.card_sdk.package import SOURCES, built


def test_the_types_are_those_of_the_wire():
    assert TARGET.read_text("utf-8") == protocol_text(), "run: python scripts/make_card_types.py"


def test_all_of_it_compiles_in_strict_mode_with_the_tests_and_the_page_s_own_snippets():
    built().tool("tsc", "-p", "tsconfig.json")


def test_its_own_tests_pass():
    report = json.loads(built().tool("vitest", "run", "--reporter=json"))
    found = {case["status"] for file in report["testResults"] for case in file["assertionResults"]}
    assert (report["success"], found) == (True, {"passed"})


def test_the_lock_file_names_no_place_to_download_from():
    text = (SOURCES / "package-lock.json").read_text("utf-8")
    assert '"resolved"' not in text
