"""The MCP client's errors in our words; what it does on the wire is looked at in tests/e2e."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError

from toolwire.cli.endpoints import Endpoint
from toolwire.cli.mcp_client import refusal

ENDPOINT = Endpoint("http://127.0.0.1:8094/a/mcp", {})


@pytest.mark.parametrize(
    "tokens", [["call", "http://127.0.0.1:1/mcp", "t"], ["tools", "list", "http://127.0.0.1:1/mcp"]]
)
def test_without_the_client_one_line_says_how_to_install_it(tokens: list[str], tmp_path: Path):
    program = f"import sys; sys.modules['mcp'] = None; from toolwire.cli.main import main; main({tokens!r})"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == 'toolwire: this command needs the MCP client; install it with: pip install "mcp>=2.3"\n'


@pytest.mark.parametrize(
    ("error", "status", "code", "data"),
    [
        (
            MCPError(-32603, "not there", {"code": "agent_offline", "retryable": True}),
            200,
            "agent_offline",
            {"code": "agent_offline", "retryable": True, "jsonrpc": -32603},
        ),
        (MCPError(-32601, "no such tool"), None, "refused", {"jsonrpc": -32601}),
        (MCPError(-32603, "x", "text"), None, "refused", {"jsonrpc": -32603}),
        (MCPError(-32603, "Server returned an error response"), 502, "refused", {"jsonrpc": -32603, "http": 502}),
    ],
)
def test_a_refusal_keeps_its_code_and_its_details(error: MCPError, status: int | None, code: str, data: dict[str, Any]):
    failed = refusal(error, ENDPOINT, status)
    assert (failed.code, failed.data) == (code, data)


def test_a_server_that_speaks_something_else_is_named_with_its_status():
    failed = refusal(MCPError(-32603, "Server returned an error response"), ENDPOINT, 502)
    assert failed.message.startswith("http://127.0.0.1:8094/a/mcp answered HTTP 502 and not as an MCP server does")
