"""MCP Inspector's command line, unmodified, lists and calls on every kind of endpoint, on both wires."""

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.inspectors import HERE, Inspector, Seen, installed
from tests.e2e.running import TOOLWIRE, Host, Process

pytestmark = pytest.mark.e2e

ERAS = ["legacy", "modern", "auto"]
MODULE = '''
from toolwire import Server
from toolwire.sdk import ToolError

server = Server("notes", "1.0.0")

@server.tool
def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}

@server.tool
def fail() -> str:
    """Fail."""
    raise ToolError("not today")

@server.resource("notes://all")
def notes() -> str:
    """All notes."""
    return "none"

@server.prompt
def summary(topic: str) -> str:
    """Sum up."""
    return f"Sum up {topic}."
'''


@pytest.fixture(scope="module")
def inspector(tmp_path_factory: pytest.TempPathFactory) -> Inspector:
    return installed(tmp_path_factory.mktemp("inspector"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("served")
    (made / "notes.py").write_text(MODULE)
    return made


@pytest.fixture(scope="module")
def served(folder: Path) -> Generator[str]:
    with Process(["tools", "serve", "notes.py", "--http", "--port", "0", "--json"], folder) as process:
        yield process.line()["url"]


@pytest.fixture(params=["http", "stdio"])
def target(request: pytest.FixtureRequest, folder: Path, served: str) -> list[str]:
    return [served] if request.param == "http" else [TOOLWIRE, "tools", "serve", str(folder / "notes.py")]


def result(seen: Seen) -> Any:
    assert seen.code == 0, seen
    return seen.json.get("result", seen.json)


@pytest.mark.parametrize("era", ERAS)
def test_it_lists_and_calls_what_a_module_serves(inspector: Inspector, target: Sequence[str], era: str):
    listed = result(inspector.inspect(target, era, "tools/list", "--strict"))
    assert [tool["name"] for tool in listed["tools"]] == ["add", "fail"]
    called = inspector.inspect(target, era, "tools/call", "--tool-name", "add", "--tool-args-json", '{"a":2,"b":40}')
    assert result(called)["structuredContent"] == {"sum": 42}


@pytest.mark.parametrize("era", ERAS[:2])
def test_it_lists_and_calls_through_a_proxy(inspector: Inspector, folder: Path, served: str, era: str):
    proxy = ["tools", "serve", "--proxy", served]
    called = ["--tool-name", "add", "--tool-args-json", '{"a":2,"b":40}']
    with Process([*proxy, "--http", "--port", "0", "--json"], folder) as process:
        listed = result(inspector.inspect([process.line()["url"]], era, "tools/list"))
    assert [tool["name"] for tool in listed["tools"]] == ["add", "fail"]
    over_stdio = result(inspector.inspect([TOOLWIRE, *proxy], era, "tools/call", *called))
    assert over_stdio["structuredContent"] == {"sum": 42}


@pytest.mark.parametrize("era", ERAS[:2])
def test_it_shows_what_goes_wrong(inspector: Inspector, target: Sequence[str], era: str):
    failed = inspector.inspect(target, era, "tools/call", "--tool-name", "fail")
    assert "not today" in str(failed.json)
    unknown = inspector.inspect(target, era, "tools/call", "--tool-name", "nothing")
    assert unknown.code != 0


@pytest.mark.parametrize("era", ERAS[:2])
def test_it_reads_what_stands_beside_tools(inspector: Inspector, target: Sequence[str], era: str):
    read = result(inspector.inspect(target, era, "resources/read", "--uri", "notes://all"))
    assert read["contents"][0]["text"] == "none"
    prompt = inspector.inspect(target, era, "prompts/get", "--prompt-name", "summary", "--prompt-args", "topic=mice")
    assert result(prompt)["messages"][0]["content"]["text"] == "Sum up mice."


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("form", ["{id}/mcp", "agents/{id}/mcp"])
def test_it_lists_and_calls_an_agents_tools_with_a_calling_key(inspector: Inspector, host: Host, era: str, form: str):
    url = f"{host.ready.url}/{form.format(id=host.ready.agent_id)}"
    header = f"X-Agent-API-Key: {host.ready.bak}" if "agents" in form else f"Authorization: Bearer {host.ready.bak}"
    target = [url, "--transport", "http", "--header", header]
    listed = result(inspector.inspect(target, era, "tools/list"))
    assert "web_search" in [tool["name"] for tool in listed["tools"]]
    arguments = ["--tool-name", "web_search", "--tool-args-json", '{"query":"how do tides work","max_results":1}']
    called = result(inspector.inspect(target, era, "tools/call", *arguments))
    assert not called.get("isError")
    assert called["content"]


def test_the_lock_file_names_no_download_addresses():
    assert '"resolved"' not in (HERE / "package-lock.json").read_text("utf-8")
