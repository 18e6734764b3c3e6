"""A real host answers every REST request as its document says, and none with a mistake of its own (gateway.md §6).

Schemathesis makes the requests of the document, good ones and bad ones, for each kind of key.
"""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import Host
from tests.e2e.schemathesis import look

pytestmark = pytest.mark.e2e

WAITING = [
    option
    for name in ("workspace_events", "record_events", "channel_wait", "delivery_read")
    for option in ("--exclude-operation-id", name)
]
"""Left out where there is something to wait for: they take as long as they are told to."""

STARTING = ("--exclude-operation-id", "remote_add")
"""Left out because it starts what it is told to, and asks what addresses it is told."""


@pytest.fixture
def host(tmp_path: Path) -> Generator[Host]:
    (tmp_path / "toolwire.toml").write_text("rate_limit_per_minute = 0\nowner_rate_limit_per_minute = 0\n")
    with Host(tmp_path, "--config", str(tmp_path / "toolwire.toml")) as running:
        running.attached(running.ready.agent_id)
        yield running


def ask(host: Host, method: str, path: str, body: Any = None) -> Any:
    headers = {"authorization": f"Bearer {host.ready.owner_key}"}
    answer = host.client.request(method, f"/api/v1{path}", json=body, headers=headers)
    assert answer.status_code < 300, answer.text
    return answer.json()["data"]


def things(host: Host) -> dict[str, str]:
    """One of everything, so that requests find something: what stands in the paths, by the parameter's name."""
    agent = host.ready.agent_id
    task = ask(host, "POST", f"/agents/{agent}/tasks", {"tool": "summarize", "arguments": {"text": "One. Two."}})
    channel = ask(host, "POST", "/channels", {"participants": [agent]})
    board = ask(host, "POST", "/workspaces", {"name": "desk"})["id"]
    note = ask(host, "POST", f"/workspaces/{board}/cards", {"kind": "note", "title": "plan"})
    person = ask(host, "POST", f"/workspaces/{board}/cards", {"kind": "agent", "agent_id": agent})
    arrow = ask(host, "POST", f"/workspaces/{board}/arrows", {"source": note["id"], "target": person["id"]})
    file = ask(host, "POST", "/files/presign-upload", {"filename": "a.txt", "content_type": "text/plain"})
    sent = host.client.put(file["upload_url"], content=b"hello", headers={"content-type": "text/plain"})
    assert sent.status_code == 200
    return {
        "agent": agent,
        "task": task["task_id"],
        "channel": channel["channel_id"],
        "w": board,
        "c": note["id"],
        "a": arrow["id"],
        "file": file["file_id"],
    }


def test_an_owner_is_answered_as_the_document_says(host: Host):
    look(
        host.ready.url,
        host.ready.owner_key,
        things(host),
        *("--exclude-method", "DELETE"),
        *STARTING,
        *WAITING,
    )


def test_a_caller_is_answered_as_the_document_says(host: Host):
    look(host.ready.url, host.ready.bak, things(host), *("--include-tag", "call"), *("--include-tag", "webhook"))


def test_an_agent_is_answered_as_the_document_says(host: Host):
    agent = ask(host, "POST", "/agents", {"name": "fuzzed"})
    ids = {"agent": agent["agent_id"]}
    look(host.ready.url, agent["agent_key"], ids, *("--include-tag", "delivery"), *("--include-tag", "agent"), *WAITING)


def test_whoever_asks_for_what_is_not_there_is_answered_as_the_document_says(host: Host):
    look(host.ready.url, host.ready.owner_key, {}, *("--exclude-operation-id", "record_events"), examples=2)
    look(host.ready.url, "", {}, examples=1)
    assert host.popen.poll() is None


def test_the_document_is_read_without_a_key_and_names_each_face(host: Host):
    answer = host.client.get("/openapi.json")
    assert answer.status_code == 200
    document = answer.json()
    assert document["openapi"].startswith("3.1.")
    assert {"/api/v1/agents/{agent}/invoke", "/api/v1/workspaces/{w}", "/healthz"} <= set(document["paths"])
