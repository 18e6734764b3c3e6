"""What is measured of whom, and what Toolwire asks of itself: tables, and no code that runs anything."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.toolchain import peer_python, pinned_version

MEMORY = "memory"
SQLITE = "SQLite"
IMPORT = "import"

TURNS = 2000
PEERS_TURNS = 200
"""Peers grow slower with a conversation's length; 2,000 turns of theirs would take minutes."""


@dataclass(frozen=True, slots=True)
class Subject:
    """An SDK under test.

    Attributes:
        name: as the table's heading.
        package: the peer's environment; empty for our own.
        module: the program that measures it, below `benchmarks.agents.subjects`.
        imports: what an author imports to run an agent.
        env: what the program is told besides.
    """

    name: str
    package: str
    module: str
    imports: str
    env: tuple[tuple[str, str], ...] = ()

    def python(self, own: Path) -> Path:
        """The interpreter that has it; a peer's is made when it is missing."""
        return peer_python(self.package) if self.package else own


def _peer(name: str, package: str, module: str, imports: str, *env: tuple[str, str]) -> Subject:
    return Subject(f"{name} {pinned_version(package)}", package, module, imports, env)


OURS = Subject(
    "toolwire", "", "page_sdk", "from toolwire.sdk import Client, Options, query, tool", (("PAGE_SDK", "toolwire.sdk"),)
)
NOETA = _peer(
    "noeta-sdk",
    "noeta-sdk",
    "page_sdk",
    "from noeta.sdk import Client, Options, query, tool",
    ("PAGE_SDK", "noeta.sdk"),
)
OPENAI = _peer("openai-agents", "openai-agents", "openai_agents", "from agents import Agent, Runner, function_tool")
PYDANTIC = _peer("pydantic-ai", "pydantic-ai-slim", "pydantic_ai_agents", "from pydantic_ai import Agent")
PEERS = (NOETA, OPENAI, PYDANTIC)


@dataclass(frozen=True, slots=True)
class Measured:
    """One program run, and whom it is run for besides ourselves.

    Attributes:
        scenario: what the program does, or `IMPORT`.
        storage: `MEMORY` or `SQLITE`.
        count: how often, as `Plan.count`; `peers_count` is the peers', where that is another.
    """

    scenario: str
    storage: str = MEMORY
    count: int = 1
    peers_count: int | None = None
    workers: int = 1
    peers: tuple[Subject, ...] = PEERS

    def plan(self, subject: Subject, storage_file: str) -> dict[str, Any]:
        """What its program is told."""
        count = self.count if subject is OURS or self.peers_count is None else self.peers_count
        storage = storage_file if self.storage == SQLITE else ""
        return {"scenario": self.scenario, "storage": storage, "count": count, "workers": self.workers}


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: one figure of a program run.

    Attributes:
        text: what the figure is.
        run: where it comes from.
        figure: its name there.
        lower_is_better: as of times.
        least_ratio: how many times better than noeta-sdk Toolwire has to be.
        at_most, at_least: what Toolwire's own figure has to be.
    """

    text: str
    run: Measured
    figure: str
    lower_is_better: bool = False
    least_ratio: float | None = None
    at_most: float | None = None
    at_least: float | None = None


QUERY = Measured("query", count=200)
QUERY_SQLITE = Measured("query", SQLITE, 200, peers=(NOETA,))
START = Measured("start", count=200, peers=(NOETA,))
START_SQLITE = Measured("start", SQLITE, 200, peers=(NOETA,))
CHAT = Measured("chat", MEMORY, TURNS, PEERS_TURNS)
CHAT_SQLITE = Measured("chat", SQLITE, TURNS, PEERS_TURNS, peers=(NOETA, OPENAI))
LOOP = Measured("loop", count=100)
SLOW = Measured("slow", count=8)
POOL = Measured("pool", count=100, workers=16, peers=(NOETA,))
IMPORTED = Measured(IMPORT)

ROWS = (
    Row("queries/s", QUERY, "per_s", least_ratio=5),
    Row("queries/s, SQLite", QUERY_SQLITE, "per_s", least_ratio=10),
    Row("tasks begun/s", START, "per_s"),
    Row("tasks begun/s, SQLite", START_SQLITE, "per_s"),
    Row("turns/s, turns 1-100", CHAT, "first_per_s"),
    Row("turns/s, turns 101-200", CHAT, "later_per_s"),
    Row("turns/s, turns 1,901-2,000", CHAT, "last_per_s"),
    Row("the last of the first", CHAT, "kept", at_least=0.9),
    Row("turns/s, turns 1-100, SQLite", CHAT_SQLITE, "first_per_s"),
    Row("turns/s, turns 101-200, SQLite", CHAT_SQLITE, "later_per_s"),
    Row("turns/s, turns 1,901-2,000, SQLite", CHAT_SQLITE, "last_per_s"),
    Row("the last of the first, SQLite", CHAT_SQLITE, "kept", at_least=0.9),
    Row("ms a call, 100 in a row", LOOP, "ms", lower_is_better=True),
    Row("ms for 8 calls of 50 ms at once", SLOW, "ms", lower_is_better=True, at_most=75),
    Row("tasks/s of 50 ms, 16 workers", POOL, "per_s"),
    Row("ms to import the SDK", IMPORTED, "sdk_ms", lower_is_better=True, least_ratio=246 / 80),
    Row("ms to import what runs agents", IMPORTED, "ms", lower_is_better=True),
    Row("modules loaded by importing the SDK", IMPORTED, "sdk_modules", lower_is_better=True, at_most=120),
)


def select(wanted: list[str]) -> list[Row]:
    """The rows whose text contains one of the texts; all when there are none."""
    lowered = [text.lower() for text in wanted]
    return [row for row in ROWS if not lowered or any(text in row.text.lower() for text in lowered)]
