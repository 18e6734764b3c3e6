"""The page of the canvas: its types are those of the host, and its own tests pass."""

import json

from scripts.build_web import WEB, run
from scripts.make_web_types import TARGET, schema_text


def test_the_types_are_those_of_the_host():
    assert TARGET.read_text("utf-8") == schema_text(), "run: python scripts/make_web_types.py"


def test_its_own_tests_pass():
    report = json.loads(run("vitest", "run", "--reporter=json"))
    found = {case["status"] for file in report["testResults"] for case in file["assertionResults"]}
    assert (report["success"], found) == (True, {"passed"})


def test_the_lock_file_names_no_place_to_download_from():
    text = (WEB / "package-lock.json").read_text("utf-8")
    assert '"resolved"' not in text
