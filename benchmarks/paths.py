"""Where the benchmark keeps what it reads and what it makes; it makes nothing itself."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SERVERS = HERE / "servers"
REQUIREMENTS = ROOT / "requirements"
WORK = ROOT / ".bench"
"""Git-ignored: the peers' environments, the compiled load generator, logs, data directories and results."""

TOOLWIRE = Path(sys.executable).with_name("toolwire")
"""The command that belongs to the interpreter running the benchmark."""
