"""`import toolwire.client` stays light: what it needs is an HTTP client (ARCHITECTURE §6)."""

import subprocess
import sys

HEAVY = ("jsonschema_rs", "starlette", "uvicorn", "pydantic", "sqlite3", "obstore", "rich", "cyclopts", "websockets")
SCRIPT = """
import sys
before = set(sys.modules)
import toolwire.client
print([name for name in %r if name in set(sys.modules) - before])
"""


def test_the_client_loads_nothing_that_serves_or_stores():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT % (HEAVY,)], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.strip() == "[]"
