"""A browser page asks a real process, over connections that take the short way for what they have seen before."""

from pathlib import Path

import httpx2
import pytest

from tests.e2e.running import Process

pytestmark = pytest.mark.e2e

PAGE = "https://app.example.com"
MODULE = "from toolwire.sdk import tool\n\n@tool\ndef hello() -> str:\n    return 'hello'\n"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def test_a_page_named_on_the_command_line_reads_each_answer_of_a_connection(tmp_path: Path):
    """mcp.md S30: the same head again and again, of a page and of a program by turns."""
    (tmp_path / "hello.py").write_text(MODULE)
    command = ["tools", "serve", "hello.py", "--http", "--port", "0", "--json", "--origin", PAGE]
    with Process(command, tmp_path) as served, httpx2.Client(trust_env=False) as client:
        url = served.line()["url"]
        for _ in range(4):
            program = client.post(url, json=LIST)
            page = client.post(url, json=LIST, headers={"origin": PAGE})
            assert program.json() == page.json()
            assert "access-control-allow-origin" not in program.headers
            assert page.headers["access-control-allow-origin"] == PAGE
        asked = {"origin": PAGE, "access-control-request-method": "POST"}
        assert client.options(url, headers=asked).status_code == 204
        assert client.post(url, json=LIST, headers={"origin": "https://evil.example.com"}).status_code == 403


def test_pages_are_nothing_that_stdio_has(tmp_path: Path):
    (tmp_path / "hello.py").write_text(MODULE)
    with Process(["tools", "serve", "hello.py", "--origin", PAGE], tmp_path) as served:
        served.errors_say("--origin is for web pages")
