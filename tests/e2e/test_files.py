"""Files over a real gateway: the contract's summarize_pdf call, agents that read and return files, the commands.

gateway.md 19-23, 26, 27, D14, D15; the contract's idempotency example.
"""

import json
import signal
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.docs.pages import blocks, read
from tests.e2e.running import Host
from tests.e2e.test_docs import bash
from tests.unit.cli.demo.pdfs import pdf_of
from tests.unit.cli.demo.test_pdf import BREAD, TIDES
from toolwire.agent import Agent, Ctx
from toolwire.cli.demo.agent import Demo

pytestmark = pytest.mark.e2e

SEED_CALL = """
{
  "jsonrpc": "2.0",
  "id": 42,
  "method": "tools/call",
  "params": {
    "name": "summarize_pdf",
    "arguments": {
      "attachments": [{ "file_id": "file_abc123", "filename": "q3.pdf" }],
      "idempotency_key": "user_7:q3_summary"
    }
  }
}
"""


def upload(host: Host, data: bytes, name: str, content_type: str) -> str:
    """Upload as the page says: presign, then PUT with the same Content-Type; the file's id."""
    body = {"filename": name, "content_type": content_type}
    headers = {"authorization": f"Bearer {host.ready.owner_key}"}
    announced = host.client.post("/api/v1/files/presign-upload", json=body, headers=headers).json()["data"]
    sent = host.client.put(announced["upload_url"], content=data, headers={"content-type": content_type})
    assert sent.status_code == 200, sent.text
    return announced["file_id"]


def seed_call(host: Host, agent_id: str, bak: str, file_id: str, key: str = "user_7:q3_summary") -> Any:
    """The contract's call, typed as printed but for the id of the file."""
    body = SEED_CALL.replace("file_abc123", file_id).replace("user_7:q3_summary", key)
    headers = {"content-type": "application/json", "x-agent-api-key": bak}
    return host.client.post(f"/{agent_id}/mcp", content=body, headers=headers).json()


def test_the_contracts_summarize_pdf_call_depends_on_the_files_text(host: Host):
    ready = host.ready
    told: list[str] = []
    for n, text in enumerate((TIDES, BREAD)):
        file_id = upload(host, pdf_of(text), "q3.pdf", "application/pdf")
        answer = seed_call(host, ready.agent_id, ready.bak, file_id, f"user_7:q3_summary{n}")
        assert answer["id"] == 42
        (block,) = answer["result"]["content"]
        assert all(f"{sentence.rstrip('.')}." in text for sentence in block["text"].split(". "))
        told.append(block["text"])
    assert told[0] != told[1]


async def test_a_repeat_answers_from_the_record_and_the_agent_is_not_asked(host: Host):
    made = host.toolwire("agent", "create", "reader", "--json").json()
    bak = host.toolwire("key", "create", "--agent", "reader", "--json").json()["key"]
    demo = Demo(made["agent_id"], host.ready.url)
    file_id = upload(host, pdf_of(TIDES), "q3.pdf", "application/pdf")

    with anyio.fail_after(30):
        async with demo.agent().connect(host.ready.url, made["agent_key"]):
            first = await anyio.to_thread.run_sync(seed_call, host, made["agent_id"], bak, file_id)
            assert demo.answered == 1
            second = await anyio.to_thread.run_sync(seed_call, host, made["agent_id"], bak, file_id)
            assert demo.answered == 1

    assert second["result"]["content"] == first["result"]["content"]
    assert second["result"]["_meta"]["toolwire/idempotency"]["replayed"] is True


async def test_an_agent_reads_streams_and_saves_what_came_along_and_returns_files(host: Host, tmp_path: Path):
    made = host.toolwire("agent", "create", "copier", "--json").json()
    bak = host.toolwire("key", "create", "--agent", "copier", "--json").json()["key"]
    agent = Agent("copier")
    data = bytes(n % 251 for n in range(3_000_000))

    @agent.tool
    async def copy(ctx: Ctx) -> list[Any]:
        [file] = ctx.attachments
        whole = await file.read()
        assert b"".join([piece async for piece in file.stream()]) == whole
        saved = await file.save(tmp_path)
        assert (saved, await anyio.Path(saved).read_bytes()) == (tmp_path / "evil.bin", whole)
        return ["copied", await ctx.file(saved, "copy.bin"), await ctx.file(b"a,b\n", "../table.csv")]

    def call() -> Any:
        file_id = upload(host, data, "../../evil.bin", "application/octet-stream")
        arguments = {"attachments": [{"file_id": file_id}]}
        request = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "copy", "arguments": arguments},
        }
        headers = {"x-agent-api-key": bak, "mcp-protocol-version": "2025-11-25"}
        return host.client.post(f"/{made['agent_id']}/mcp", json=request, headers=headers).json()["result"]

    with anyio.fail_after(30):
        async with agent.connect(host.ready.url, made["agent_key"]):
            result = await anyio.to_thread.run_sync(call)

    said, copied, table = result["content"]
    assert said["text"] == "copied"
    assert (copied["name"], copied["size"], table["name"], table["mimeType"]) == (
        "copy.bin",
        len(data),
        "table.csv",
        "text/csv",
    )
    assert httpx2.get(copied["uri"], trust_env=False).content == data
    assert httpx2.get(table["uri"], trust_env=False).content == b"a,b\n"


async def test_an_agent_reads_a_file_whose_url_has_expired(tmp_path: Path):
    """D15: the agent re-resolves by file_id."""
    with Host(tmp_path, env={"TOOLWIRE_DOWNLOAD_URL_TTL_S": "1"}) as host:
        made = host.toolwire("agent", "create", "late", "--json").json()
        bak = host.toolwire("key", "create", "--agent", "late", "--json").json()["key"]
        agent = Agent("late")

        @agent.tool
        async def read(ctx: Ctx) -> str:
            [file] = ctx.attachments
            assert file.download_url is not None
            bad = file.download_url.replace("signature=", "signature=x")
            late = type(file)(file.file_id, file.filename, file.content_type, file.size, bad, None, file.place)
            return (await late.read()).decode()

        file_id = upload(host, b"still here", "a.txt", "text/plain")

        def call() -> Any:
            params = {"name": "read", "arguments": {"attachments": [{"file_id": file_id}]}}
            request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            return host.client.post(f"/{made['agent_id']}/mcp", json=request, headers={"x-agent-api-key": bak}).json()

        with anyio.fail_after(30):
            async with agent.connect(host.ready.url, made["agent_key"]):
                answer = await anyio.to_thread.run_sync(call)
    assert json.dumps(answer["result"]["content"]) == '[{"type": "text", "text": "still here"}]'


def test_the_pages_commands_upload_a_file_and_have_it_summarised(host: Host):
    """docs/how-to/files.md, with the owner's key for all of it."""
    (host.cwd / "q3.pdf").write_bytes(pdf_of(TIDES))
    announce, send, call = (block.text for block in blocks(read("docs/how-to/files.md")) if "curl" in block.text)
    env = {"HOST": host.ready.url, "KEY": host.ready.owner_key, "AGENT_ID": host.ready.agent_id}

    assert json.loads(bash(announce, host, **env))["success"] is True
    assert json.loads(bash(send, host, **env))["data"]["size"] == len(pdf_of(TIDES))
    answer = json.loads(bash(call, host, **env))
    assert "tides" in answer["result"]["content"][0]["text"]


def test_files_are_put_got_and_removed_by_commands(host: Host, tmp_path: Path):
    source = tmp_path / "notes.txt"
    source.write_bytes(b"some notes")

    put = host.toolwire("file", "put", str(source), "--json").json()
    assert (put["filename"], put["content_type"], put["size"]) == ("notes.txt", "text/plain", 10)
    target = tmp_path / "again.txt"
    got = host.toolwire("file", "get", put["file_id"], "--to", str(target), "--json").json()
    assert (got["path"], target.read_bytes()) == (str(target), b"some notes")
    assert host.toolwire("file", "get", put["file_id"]).out == "notes.txt\n"
    refused = host.toolwire("file", "get", put["file_id"], "--json")
    assert (refused.code, json.loads(refused.out)["error"]["code"]) == (2, "usage")

    assert host.toolwire("file", "remove", put["file_id"], "--json").json()["removed"] is True
    gone = host.toolwire("file", "get", put["file_id"], "--json")
    assert (gone.code, json.loads(gone.out)["error"]["code"]) == (3, "file_not_found")


def test_files_are_there_after_the_host_was_killed(tmp_path: Path):
    """What a 200 to an upload has promised outlives `kill -9`, and so does an upload_url."""
    with Host(tmp_path) as first:
        file_id = upload(first, pdf_of(BREAD), "bread.pdf", "application/pdf")
        body = {"filename": "later.pdf", "content_type": "application/pdf"}
        headers = {"authorization": f"Bearer {first.ready.owner_key}"}
        announced = first.client.post("/api/v1/files/presign-upload", json=body, headers=headers).json()["data"]
        port = first.port
        first.stop(signal.SIGKILL)

    with Host(tmp_path, port=port) as second:
        second.attached("demo")
        answer = seed_call(second, second.ready.agent_id, second.ready.bak, file_id)
        assert "bread" in answer["result"]["content"][0]["text"]
        sent = httpx2.put(
            announced["upload_url"], content=b"%PDF", headers={"content-type": "application/pdf"}, trust_env=False
        )
        assert sent.status_code == 200
