"""What docs/reference/streams.md says is so."""

from docs_src.streams.tutorial001 import server
from tests.docs.pages import read
from tests.interaction.bench import OLD, Peer
from tests.interaction.test_resume import back
from tests.interaction.transport import connect
from toolwire.cli.listening import GRACE_S
from toolwire.config import Config
from toolwire.surfaces.exchange import BUFFERED_BYTES, BUFFERED_FRAMES
from toolwire.surfaces.mcp_http import HttpSettings
from toolwire.surfaces.streams import ResumeLimits


async def test_the_client_hangs_up_and_comes_back_for_the_archive():
    async with server.open() as served, connect(served.app) as client:
        peer = await Peer(client, OLD).session()
        params = {"name": "pack", "arguments": {"files": 2}, "_meta": {"progressToken": 1}}
        answer = await peer.ask("tools/call", params)
        assert await answer.frames() == []
        assert answer.retry_ms == 5000
        *told, last = await (await back(peer, answer.ids[-1])).frames()
        assert [frame["params"]["message"] for frame in told] == ["file 1", "file 2"]
        assert last["result"]["content"][0]["text"] == "2 files packed"


def test_the_numbers_are_those_of_the_code():
    page = " ".join(read("docs/reference/streams.md").split())
    limits, settings = ResumeLimits(), Config()
    assert f"| {limits.kept_s / 60:g} minutes |" in page
    assert f"| {limits.max_streams} |" in page
    assert f"| {limits.max_bytes // 1024**2} MiB, and a quarter" in page
    assert f"every {settings.sse_keepalive_s:g} s (`sse_keepalive_s`)" in page
    assert f"for {settings.write_timeout_s:g} s (`write_timeout_s`)" in page
    assert (HttpSettings().write_timeout_s, HttpSettings().sse_keepalive_s) == (
        settings.write_timeout_s,
        settings.sse_keepalive_s,
    )
    assert f"up to {BUFFERED_FRAMES} messages and {BUFFERED_BYTES // 1024**2} MiB" in page
    assert f"Calls may finish for {GRACE_S} s" in page
