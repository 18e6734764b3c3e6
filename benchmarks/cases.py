"""The table of what is measured: one row a case.  It does not start or measure anything.

To add a case, add a row; a new kind of server is a function in services.py.
"""

import json
from dataclasses import dataclass
from typing import Any

from benchmarks.services import (
    Service,
    mcp_stdio,
    peer,
    toolwire_gateway,
    toolwire_keyed,
    toolwire_served,
    toolwire_stdio,
)
from benchmarks.toolchain import pinned_version

TEXT = "hello"
"""What every case asks the echo tool to return; an answer without it is an error."""

NUMBER = '"%N"'


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request, repeated: `%N` in the body becomes a number that is never used twice."""

    body: str
    headers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Target:
    """What Toolwire asks of itself at 16 connections; None asks nothing.

    Attributes:
        baseline: least ratio of requests a second to the baseline's.
        fastmcp: least ratio to FastMCP's on the same wire revision as the baseline.
        stdio: least ratio to the official SDK's on stdin and stdout.
        p99_ms: highest 99th percentile.
    """

    baseline: float | None = None
    fastmcp: float | None = None
    stdio: float | None = None
    p99_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One row of the result.

    Attributes:
        name: what the tables call it; `--only` takes parts of names between commas, so it has none.
        sessions: whether every connection first opens its own session with `initialize`.
    """

    name: str
    service: Service
    request: Request
    sessions: bool = False
    target: Target = Target()


ACCEPT = "Accept: application/json, text/event-stream"


def call_2025(**arguments: str) -> Request:
    """Return a `tools/call` of the echo tool on the 2025-11-25 wire; it has no headers on stdin."""
    return Request(_call({"name": "echo", "arguments": arguments}), (ACCEPT, "MCP-Protocol-Version: 2025-11-25"))


def call_2026(tool: str = "echo", **arguments: str) -> Request:
    """Return a `tools/call` of an echo tool on the 2026-07-28 wire, with the envelope and headers it demands."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1.0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    headers = (ACCEPT, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", f"Mcp-Name: {tool}")
    return Request(_call({"name": tool, "arguments": arguments, "_meta": meta}), headers)


def _call(params: dict[str, Any]) -> str:
    body = {"jsonrpc": "2.0", "id": "%N", "method": "tools/call", "params": params}
    # The id is a JSON number, as most clients send it; only the id is the bare placeholder in quotes.
    return json.dumps(body, separators=(",", ":")).replace(NUMBER, "%N", 1)


MCP_VERSION = pinned_version("mcp")
FASTMCP_VERSION = pinned_version("fastmcp")

MCP_JSON = peer("mcp-stateless", "mcp", "stateless")
MCP_SESSION = peer("mcp-session", "mcp", "session")
MCP_SSE = peer("mcp-sse", "mcp", "sse")
FASTMCP_JSON = peer("fastmcp-stateless", "fastmcp", "stateless")
FASTMCP_SESSION = peer("fastmcp-session", "fastmcp", "session")
MCP_STDIO = mcp_stdio("mcp-stdio")
STDIO = toolwire_stdio("toolwire-stdio")
KEYED = toolwire_keyed("toolwire-keyed")
SERVED = toolwire_served("toolwire-served")
GATEWAY = toolwire_gateway("toolwire-gateway")

BASELINE = Case(f"mcp {MCP_VERSION} 2026 JSON", MCP_JSON, call_2026(text=TEXT))
FASTMCP = Case(f"FastMCP {FASTMCP_VERSION} 2026 JSON", FASTMCP_JSON, call_2026(text=TEXT))
STDIO_REFERENCE = Case(f"mcp {MCP_VERSION} stdio 2025", MCP_STDIO, call_2025(text=TEXT))

IN_PROCESS = Target(baseline=8, fastmcp=18, p99_ms=2)

CASES = (
    BASELINE,
    Case(f"mcp {MCP_VERSION} 2025 session JSON", MCP_SESSION, call_2025(text=TEXT), sessions=True),
    Case(f"mcp {MCP_VERSION} 2025 session SSE", MCP_SSE, call_2025(text=TEXT), sessions=True),
    FASTMCP,
    Case(f"FastMCP {FASTMCP_VERSION} 2025 session JSON", FASTMCP_SESSION, call_2025(text=TEXT), sessions=True),
    Case("toolwire in-process tool 2026", SERVED, call_2026(text=TEXT), target=IN_PROCESS),
    Case("toolwire in-process tool 2025", SERVED, call_2025(text=TEXT), target=IN_PROCESS),
    Case("toolwire in-process tool that waits 2026", SERVED, call_2026("echo_waiting", text=TEXT), target=IN_PROCESS),
    Case("toolwire in-process tool 2025 session", SERVED, call_2025(text=TEXT), sessions=True),
    Case("toolwire in-process bak_ key, recorded 2026", KEYED, call_2026(text=TEXT), target=Target(baseline=6)),
    STDIO_REFERENCE,
    Case("toolwire stdio 2025", STDIO, call_2025(text=TEXT), target=Target(stdio=5)),
    Case("toolwire gateway and agent bak_ key 2026", GATEWAY, call_2026(text=TEXT), target=Target(baseline=1.5)),
    Case("toolwire gateway and agent bak_ key 2025", GATEWAY, call_2025(text=TEXT), target=Target(baseline=1.5)),
    Case(
        "toolwire keyed durable calls 2026",
        GATEWAY,
        call_2026(text=TEXT, idempotency_key="bench-%N"),
        target=Target(baseline=1),
    ),
)


def select(wanted: list[str]) -> list[Case]:
    """Return the cases whose name contains one of the texts (all when there are none), and what they are held against.

    That is always the baseline, and the official SDK on stdin and stdout for a case that has a target there.
    """
    lowered = [text.lower() for text in wanted]
    chosen = [case for case in CASES if not lowered or any(text in case.name.lower() for text in lowered)]
    references = {BASELINE.name} | {STDIO_REFERENCE.name for case in chosen if case.target.stdio is not None}
    return [case for case in CASES if case in chosen or case.name in references]
