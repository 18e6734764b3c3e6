"""`import toolwire.sdk` stays light: nothing that serves, stores or validates is loaded with it (ARCHITECTURE §6)."""

import subprocess
import sys

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
    assert len(modules) < 125
