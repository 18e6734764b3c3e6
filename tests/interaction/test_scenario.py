"""Every official client, unmodified, goes through one scenario and sees the same, on HTTP and stdio, on both wires."""

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from tests.e2e.running import TOOLWIRE, Process
from tests.interaction.node_clients import Talker, installed
from tests.interaction.requirements import HTTP, STDIO, proves
from tests.interaction.scenario import CLIENTS, STEPS
from tests.interaction.scenario_python import STEPS as PYTHON_STEPS
from tests.node_packages import ROOT

PATIENCE_S = 90.0
MODULE = Path(__file__).with_name("scenario_server.py")
each_client = pytest.mark.parametrize(("client", "mode", "revision"), CLIENTS)


@pytest.fixture(scope="module")
def talker() -> Talker:
    return installed()


@contextmanager
def served(transport: str, folder: Path) -> Generator[list[str]]:
    """What a client is told of the server: its URL, or the command that starts it."""
    if transport == "stdio":
        yield [TOOLWIRE, "tools", "serve", str(MODULE)]
        return
    with Process(["tools", "serve", str(MODULE), "--http", "--port", "0", "--json"], folder) as process:
        yield [process.line()["url"]]


async def go_through(talker: Talker, client: str, mode: str, revision: str, target: list[str]) -> None:
    if client == "python":
        command = [sys.executable, "-m", "tests.interaction.scenario_python", mode]
    else:
        command = talker.scenario(client.removeprefix("typescript "), mode)
    with anyio.fail_after(PATIENCE_S):
        done = await anyio.run_process([*command, *target], check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr.decode()
    seen = json.loads(done.stdout)
    assert list(seen["steps"]) == list(STEPS)
    assert seen["steps"] == STEPS
    assert seen["version"] in (revision, None)  # the first TypeScript client does not tell on stdio


@proves("clients.python", *HTTP)
@proves("clients.typescript", *HTTP)
@proves("clients.scenario", *HTTP)
@pytest.mark.e2e
@each_client
async def test_a_client_goes_through_the_scenario_over_http(
    talker: Talker, client: str, mode: str, revision: str, tmp_path: Path
):
    with served("http", tmp_path) as target:
        await go_through(talker, client, mode, revision, target)


@proves("clients.python", *STDIO)
@proves("clients.typescript", *STDIO)
@proves("clients.scenario", *STDIO)
@pytest.mark.e2e
@each_client
async def test_a_client_goes_through_the_scenario_over_stdio(
    talker: Talker, client: str, mode: str, revision: str, tmp_path: Path
):
    with served("stdio", tmp_path) as target:
        await go_through(talker, client, mode, revision, target)


@proves("clients.scenario")
def test_the_scripts_of_both_languages_have_the_same_steps_in_the_same_order():
    script = (MODULE.parent / "ts" / "scenario.mjs").read_text("utf-8")
    body = script.partition("const steps = {\n")[2].partition("\n};\n")[0]
    typescript = [
        line.strip().partition(":")[0] for line in body.splitlines() if line.startswith("  ") and line[2] != " "
    ]
    assert [name for name in typescript if name.isidentifier()] == list(STEPS)
    assert [step.__name__ for step in PYTHON_STEPS] == list(STEPS)
