"""The official TypeScript clients, unmodified, on Node: the first line (2025) and the second (both revisions)."""

import sys
from typing import Any

import pytest

from tests.interaction.bench import NEW, OLD
from tests.interaction.node_clients import HERE, Talker, installed
from tests.interaction.requirements import HTTP_2025, HTTP_2026, STDIO_2025, STDIO_2026, proves
from tests.interaction.uvicorns import open_site

CLIENTS = [("v1", "legacy", OLD), ("v2", "legacy", OLD), ("v2", "auto", NEW), ("v2", NEW, NEW)]


@pytest.fixture(scope="module")
def talker() -> Talker:
    return installed()


def check(seen: dict[str, Any]) -> None:
    """What a client saw of any server of the bench."""
    assert seen["server"] == {"name": "bench", "version": "1.0"}
    assert seen["tools"][:2] == ["echo", "add"]
    assert seen["echo"] == [{"type": "text", "text": "hé\n\u2028"}]
    assert seen["sum"] == {"sum": 42}
    assert seen["steps"] == "done"
    assert (seen["failed"], seen["unfit"]) == (True, True)
    assert (seen["unknown"]["code"], seen["unknown"]["token"]) == (-32602, "tool_not_found")
    assert seen["together"] is True
    assert seen["begun"] == {"progress": 1, "total": 2, "message": "begun"}
    assert (seen["givenUp"], seen["after"]) == (True, "still here")


@proves("clients.typescript", HTTP_2025, HTTP_2026)
@pytest.mark.e2e
@pytest.mark.parametrize(("client", "mode", "version"), CLIENTS)
async def test_a_typescript_client_talks_over_http(talker: Talker, client: str, mode: str, version: str):
    async with open_site() as site:
        seen = await talker.talk(client, mode, [site.url])
        check(seen)
        assert seen["version"] == version
        assert [told["progress"] for told in seen["progress"]] == [1, 2, 3]
        assert seen["problems"] == []
        await site.gate.until(cancelled=1)


@proves("clients.typescript", STDIO_2025, STDIO_2026)
@pytest.mark.e2e
@pytest.mark.parametrize(("client", "mode", "version"), CLIENTS)
async def test_a_typescript_client_talks_over_stdio(talker: Talker, client: str, mode: str, version: str):
    seen = await talker.talk(client, mode, [sys.executable, "-m", "tests.interaction.served"])
    check(seen)
    assert seen["version"] in (version, None)  # the first client does not tell on stdio
    # These clients drop progress that comes in one read with its result, and say so.
    assert all("unknown token" in problem for problem in seen["problems"])


@proves("clients.typescript", HTTP_2025)
def test_the_lock_file_names_no_download_addresses():
    assert '"resolved"' not in (HERE / "package-lock.json").read_text("utf-8")
