"""`import toolwire.sdk` stays light: nothing that serves, stores or validates is loaded with it (ARCHITECTURE §6)."""

import ast
import subprocess
import sys
from pathlib import Path

import toolwire.sdk

HEAVY = ("jsonschema_rs", "httpx2", "starlette", "uvicorn", "pydantic", "sqlite3", "anyio.to_thread", "asyncio", "rich")
SCRIPT = """
import sys
before = set(sys.modules)
import toolwire.sdk
print("\\n".join(set(sys.modules) - before))
"""


def loaded() -> set[str]:
    printed = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=30)
    return set(printed.stdout.split())


def test_the_sdk_loads_few_modules_and_no_heavy_ones():
    modules = loaded()

    assert [name for name in HEAVY if name in modules] == []
    assert len(modules) < 135


def test_every_name_that_type_checkers_see_is_there_at_run_time_and_the_other_way_round():
    source = ast.parse(Path(str(toolwire.sdk.__file__)).read_text("utf-8"))
    (typed,) = (node for node in source.body if isinstance(node, ast.If))
    seen = {
        (alias.name, f"{node.module}")
        for node in typed.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    there = {(name, f"toolwire.sdk.{module}") for name, module in toolwire.sdk._MODULES.items()}  # pyright: ignore[reportPrivateUsage] -- the table is what is compared
    assert there == seen
    for name, _ in there:
        assert getattr(toolwire.sdk, name) is not None
        assert name in dir(toolwire.sdk)
