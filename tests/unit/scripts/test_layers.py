"""The contracts of .importlinter hold for the package as it is, and break where they should."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")


def lint(root: Path) -> str:
    done = subprocess.run(
        [LINT_IMPORTS, "--no-cache"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A package with every layer and nothing in them."""
    shutil.copy(ROOT / ".importlinter", tmp_path)
    for layer in "cli gateway canvas agent card sdk surfaces providers adapters engine wire core testing".split():
        (tmp_path / "src/toolwire" / layer).mkdir(parents=True)
        (tmp_path / "src/toolwire" / layer / "__init__.py").touch()
    for module in ("server", "compose", "config"):
        (tmp_path / "src/toolwire" / f"{module}.py").touch()
    (tmp_path / "src/toolwire/__init__.py").write_text("def __getattr__(name):\n    import toolwire.server")
    return tmp_path


def test_allowed_imports_keep_every_contract(tree: Path):
    package = tree / "src/toolwire"
    (package / "cli/main.py").write_text("import cyclopts, rich.table\nimport toolwire.gateway, toolwire.compose")
    (package / "adapters/sqlite.py").write_text("import sqlite3, anyio\nimport toolwire.core")
    (package / "compose.py").write_text("def build():\n    import toolwire.adapters.sqlite")
    (package / "testing/stores.py").write_text("import toolwire.adapters.sqlite")
    assert "0 broken" in lint(tree)


@pytest.mark.parametrize(
    ("module", "source", "broken"),
    [
        ("core/call.py", "import toolwire.engine", "Imports go down only"),
        ("gateway/app.py", "import toolwire.canvas", "Imports go down only"),
        ("utils/__init__.py", "", "Imports go down only"),
        ("wire/sse.py", "import anyio.abc", "core and wire are values"),
        ("core/ids.py", "def f():\n    import sqlite3", "core and wire are values"),
        ("gateway/app.py", "import toolwire.adapters.sqlite", "compose alone chooses the adapters"),
        ("engine/record.py", "import sqlite3", "adapters alone import drivers"),
        ("agent/agent.py", "from rich import print", "cli alone talks to a terminal"),
        ("engine/record.py", "import toolwire.engine.follow", "form no cycle"),
    ],
)
def test_a_forbidden_import_breaks_the_contract_that_forbids_it(tree: Path, module: str, source: str, broken: str):
    package = tree / "src/toolwire"
    (package / "adapters/sqlite.py").touch()
    (package / "engine/follow.py").write_text("import toolwire.engine.record")
    (package / "engine/record.py").touch()
    (package / module).parent.mkdir(exist_ok=True)
    (package / module).write_text(source)

    report = lint(tree)

    assert any(line.startswith(broken) or broken in line for line in report.splitlines() if " BROKEN" in line)
