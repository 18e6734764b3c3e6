"""The ten tools as a whole (sdk.md 21, 1.12)."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.sdk.builtin.desk import Desk
from tests.unit.sdk.calls import called, text_of
from toolwire.core.result import Text
from toolwire.sdk.builtin import BUILTIN_NAMES, Services, Workspace, WorkspaceEscape, builtin_refs, builtin_tools

TABLE: dict[str, tuple[str, list[str], list[str]]] = {
    "Read": ("low", ["file_path"], ["offset", "limit", "pages"]),
    "Glob": ("low", ["pattern"], ["path"]),
    "Grep": (
        "low",
        ["pattern"],
        [*"path glob type output_mode -i -n -o -u -A -B -C context head_limit offset multiline".split()],
    ),
    "Edit": ("high", ["file_path", "old_string", "new_string"], ["replace_all"]),
    "Write": ("high", ["file_path", "content"], []),
    "Bash": ("high", ["command"], ["timeout", "description", "run_in_background"]),
    "BashOutput": ("low", ["bash_id"], ["filter", "block", "timeout"]),
    "KillShell": ("high", ["shell_id"], []),
    "WebFetch": ("low", ["url", "prompt"], []),
    "WebSearch": ("low", ["query"], ["count"]),
}
SCRIPT = """
import sys, toolwire.sdk
before = set(sys.modules)
import toolwire.sdk.builtin
print(*set(sys.modules) - before)
"""
HEAVY = ("subprocess", "httpx2", "difflib", "html.parser", "json", "asyncio", "ipaddress", "selectors")


def test_there_are_exactly_the_ten_of_the_table_with_its_risks_and_inputs(tmp_path: Path):
    tools = builtin_tools(Workspace(tmp_path), Services())

    assert [tool.name for tool in tools] == [*BUILTIN_NAMES] == [*TABLE]
    for tool in tools:
        risk, required, optional = TABLE[tool.name]
        assert tool.risk_level == risk
        assert tool.input_schema["required"] == required
        assert sorted(tool.input_schema["properties"]) == sorted([*required, *optional])
        assert tool.input_schema["additionalProperties"] is False
        assert tool.description


def test_their_identities_are_known_without_a_workspace(tmp_path: Path):
    tools = builtin_tools(Workspace(tmp_path), Services())

    assert builtin_refs() == {tool.name: tool.ref for tool in tools}
    assert [*builtin_refs()] == [*BUILTIN_NAMES]


def test_only_the_named_ones_are_made_in_the_order_of_the_list(tmp_path: Path):
    made = builtin_tools(Workspace(tmp_path), Services(), names={"Grep", "Read"})

    assert [tool.name for tool in made] == ["Read", "Grep"]


def test_an_unknown_name_is_refused_with_the_names_there_are(tmp_path: Path):
    with pytest.raises(KeyError, match="unknown built-in tool 'read'; there are Read, Glob"):
        builtin_tools(Workspace(tmp_path), Services(), names=["read"])


def test_a_workspace_must_be_a_directory(tmp_path: Path):
    with pytest.raises(WorkspaceEscape, match="is not a directory"):
        Workspace(tmp_path / "nowhere")


async def test_arguments_that_do_not_fit_are_told_and_not_guessed(desk: Desk):
    assert "offset" in await desk.bad("Read", file_path="x", offset=0)
    assert "file_path" in await desk.bad("Read")
    assert "Unknown" in await desk.bad("Grep", pattern="x", Unknown=1)


@pytest.mark.both_backends
async def test_they_run_as_calls_do(tmp_path: Path):
    (tmp_path / "x").write_text("hello")
    services = Services()
    tools = {tool.name: tool for tool in builtin_tools(Workspace(tmp_path), services)}

    read = await called(tools["Read"], file_path="x")
    failed = await called(tools["Bash"], command="echo partly; exit 3")
    found = await called(tools["Grep"], pattern="hello")
    refused = await called(tools["Write"], file_path="../x", content="")
    await services.aclose()

    assert text_of(read) == "     1\thello"
    assert failed.error is not None
    assert failed.content == (Text("Exit code 3"), Text("partly"))
    assert text_of(found) == "x"
    assert "leads outside the workspace" in text_of(refused)


def test_the_seam_is_light_to_import():
    printed = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=30)
    loaded = printed.stdout.split()

    assert [name for name in HEAVY if name in loaded] == []
    assert len(loaded) <= 6, loaded
