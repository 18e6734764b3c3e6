"""The cells on which a requirement of the wire may hold, and what a requirement is; it holds none.

A cell is a transport with a revision.
"""

from enum import Enum
from typing import NamedTuple


class Cell(Enum):
    """A transport with a revision; 2025 stands for all revisions with `initialize`."""

    HTTP_2025 = "http, 2025-11-25"
    HTTP_2026 = "http, 2026-07-28"
    STDIO_2025 = "stdio, 2025-11-25"
    STDIO_2026 = "stdio, 2026-07-28"
    GATEWAY_2025 = "an agent on a gateway, 2025-11-25"
    GATEWAY_2026 = "an agent on a gateway, 2026-07-28"


HTTP_2025, HTTP_2026, STDIO_2025, STDIO_2026, GATEWAY_2025, GATEWAY_2026 = Cell
HTTP = frozenset({HTTP_2025, HTTP_2026})
STDIO = frozenset({STDIO_2025, STDIO_2026})
OLD = frozenset({HTTP_2025, STDIO_2025})
NEW = frozenset({HTTP_2026, STDIO_2026})
ALL = HTTP | STDIO
GATEWAY = frozenset({GATEWAY_2025, GATEWAY_2026})
EVERYWHERE = ALL | GATEWAY


class Requirement(NamedTuple):
    """One thing that is owed: in our words, where that is written, and on which cells it holds."""

    text: str
    source: str
    cells: frozenset[Cell]


SPEC_2025 = "https://modelcontextprotocol.io/specification/2025-11-25"
SPEC_2026 = "https://modelcontextprotocol.io/specification/2026-07-28"
SEP_2663 = "https://modelcontextprotocol.io/seps/2663-tasks-extension"
