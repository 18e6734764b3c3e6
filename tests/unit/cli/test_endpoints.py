"""Which MCP endpoint a command means, and which headers it sends there."""

from pathlib import Path

import httpx2
import pytest

from toolwire.cli.data_folder import write_private
from toolwire.cli.endpoints import endpoint_of
from toolwire.cli.failure import Failed
from toolwire.cli.parameters import HostFlags
from toolwire.cli.rest import Rest
from toolwire.cli.target import Target

HOST = HostFlags(url="http://127.0.0.1:8094", key="oag_1")


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def connect(target: Target) -> Rest:
    def handle(request: httpx2.Request) -> httpx2.Response:
        assert (target.key, request.url.path) == ("oag_1", "/api/v1/agents/demo")
        return httpx2.Response(200, json={"success": True, "data": {"agent_id": "agent_7"}})

    return Rest(target, httpx2.MockTransport(handle))


def test_a_url_is_the_endpoint_itself():
    endpoint = endpoint_of("https://mcp.example/x/mcp", HostFlags(key="bak_1"))

    assert (endpoint.url, endpoint.headers) == ("https://mcp.example/x/mcp", {"authorization": "Bearer bak_1"})
    assert endpoint_of("https://mcp.example/mcp", HostFlags()).headers == {}


def test_an_agent_is_found_by_its_name_or_meant_by_its_id():
    assert endpoint_of("demo", HOST, connect=connect).url == "http://127.0.0.1:8094/agent_7/mcp"
    assert endpoint_of("agent_9", HOST, connect=connect).url == "http://127.0.0.1:8094/agent_9/mcp"


def test_a_header_wins_over_the_key():
    headers = ["Authorization: Basic x", "X-Trace:  a:b "]
    endpoint = endpoint_of("agent_9", HOST, headers)

    assert endpoint.headers == {"authorization": "Basic x", "x-trace": "a:b"}
    assert "Basic" not in repr(endpoint)


@pytest.mark.parametrize("line", ["no-colon", ": x", "a: ä", "a: b\r\nc: d"])
def test_something_that_is_no_header_is_refused(line: str):
    with pytest.raises(Failed, match="is no header; give it as 'Name: value'"):
        endpoint_of("agent_9", HOST, [line])


def test_an_agent_needs_a_key(tmp_path: Path):
    with pytest.raises(Failed, match="no key to ask with"):
        endpoint_of("agent_9", HostFlags(url="http://127.0.0.1:8094"))

    write_private(tmp_path / "owner.key", b"oag_kept\n")
    flags = HostFlags(url="http://127.0.0.1:8094", data=tmp_path)
    assert endpoint_of("agent_9", flags).headers == {"authorization": "Bearer oag_kept"}


def test_a_url_that_is_none_is_refused():
    with pytest.raises(Failed, match="is no address"):
        endpoint_of("ftp://x", HostFlags(key="k"))
