"""scripts/lint_naming.py finds the words that the glossary avoids."""

from pathlib import Path

import pytest

from scripts import lint_naming
from scripts.lint_naming import check_module_name, check_source, read_glossary, words

GLOSSARY = read_glossary("""
**call**: One use of a tool. *Avoid:* `job`, `run`,
`tool_use`.

**task**: A watched call. *Avoid:* `job`.

**event**: Has no word to avoid.

**cancelled**: With two l's. *Avoid everywhere:* `canceled`.

**other people's names**: Fixed by a contract. *Keep:* `job_name`.
""")


def findings(source: str) -> list[str]:
    return [finding.split(":")[1].strip() for finding in check_source(source, GLOSSARY)]


@pytest.mark.parametrize(
    "source",
    [
        "class JobQueue: ...",
        "def find_runs(): ...",
        "def cancel(job_id): ...",
        "async def cancel(*, toolUse): ...",
        "run = 1",
        "self.last_run = 1",
        "import anyio as job",
        "for job in x: ...",
        "[0 for run in x]",
        "match x:\n    case [*runs]: ...",
        "match x:\n    case {'a': 1, **jobs}: ...",
        "try: ...\nexcept OSError as run: ...",
        "was_canceled = True",
        "x = 1  # was canceled",
        "def f():\n    'Tell that it is Canceled.'",
    ],
)
def test_an_avoided_word_is_found_wherever_a_name_can_be_given(source: str):
    assert len(findings(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "def run(): ...",
        "def run_sync(): ...",
        "anyio.run(main)",
        "start(job=1)",
        "running = 1",
        "status = 'canceled'",
        "import jobs",
        "x = 1  # runs, like any job",
    ],
)
def test_verbs_other_peoples_names_and_wire_literals_are_left_alone(source: str):
    assert findings(source) == []


def test_a_name_that_a_contract_has_fixed_is_kept_as_it_is_and_no_other():
    assert findings("job_name: str") == []
    assert findings("job_names: str") == ["'job_names' says 'job'"]


def test_a_finding_names_the_line_the_name_and_the_terms_to_use():
    assert list(check_source("x = 1\njob_id = 2", GLOSSARY)) == [
        "2: 'job_id' says 'job': the glossary calls it 'call or task'"
    ]


@pytest.mark.parametrize(
    "name", ["utils.py", "common.py", "helpers.py", "manager.py", "events_v2.py", "utils/__init__.py"]
)
def test_a_module_name_that_names_nothing_is_refused(name: str):
    assert list(check_module_name(Path("src/toolwire/engine") / name))


@pytest.mark.parametrize("name", ["record.py", "engine/__init__.py", "versions.py"])
def test_a_module_named_after_a_noun_passes(name: str):
    assert not list(check_module_name(Path("src/toolwire") / name))


def test_a_page_without_avoid_lists_is_not_taken_for_the_glossary():
    with pytest.raises(ValueError, match="no entry"):
        read_glossary("# Glossary\n\n**call**: One use of a tool.\n")


def test_names_are_split_at_underscores_and_capitals():
    assert words("HTTPJob_runID2") == ("http", "job", "run", "id", "2")


def test_the_projects_own_glossary_refuses_a_bad_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    glossary = Path(__file__).parents[3] / "GLOSSARY.md"
    (tmp_path / "GLOSSARY.md").write_text(glossary.read_text("utf-8"), "utf-8")
    package = tmp_path / "src" / "toolwire"
    package.mkdir(parents=True)
    (package / "helpers.py").write_text("def submit(invocation, node, edge, connector): ...\n", "utf-8")

    assert lint_naming.main(tmp_path) == 5

    out = capsys.readouterr().out
    assert "src/toolwire/helpers.py:1: a module called 'helpers'" in out
    assert "'edge' says 'edge': the glossary calls it 'arrow'" in out
