"""Who called what, when and with which outcome: a chain that shows what was changed, and keeps no bodies by itself."""

import hashlib
import json
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from msgspec.structs import asdict, replace

from tests.interaction.gateways import OWNER, Attached, gateway_with, reopened
from toolwire.agent import Agent
from toolwire.gateway.audit import FIRST, first_break, sealed
from toolwire.wire.answers.records import AuditEntry


def worker() -> Agent:
    agent = Agent("worker")

    @agent.tool
    async def add(a: int, b: int) -> str:
        return str(a + b)

    @agent.tool
    async def fail(secret: str) -> str:
        raise RuntimeError(secret)

    return agent


async def call(there: Attached, tool: str, **arguments: Any) -> None:
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(there.gateway.app), base_url="http://localhost"
    ) as client:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        response = await client.post(f"/{there.agent_id}/mcp", json=body, headers={"x-agent-api-key": there.bak})
        assert response.status_code == 200


async def chain(there: Attached, query: str = "", owner: str = OWNER) -> list[AuditEntry]:
    _, key = await there.gateway.keys.create("oag", owner)
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(there.gateway.app), base_url="http://localhost"
    ) as client:
        response = await client.get(f"/api/v1/audit{query}", headers={"authorization": f"Bearer {key}"})
        assert response.headers["content-type"].startswith("application/x-ndjson")
        return [msgspec.json.decode(line, type=AuditEntry) for line in response.text.splitlines()]


async def test_every_call_has_its_entry_with_who_what_when_and_how_it_ended(tmp_path: Path) -> None:
    async with gateway_with(worker(), tmp_path) as there:
        await call(there, "add", a=1, b=2)
        await call(there, "add", a=1, b=2, idempotency_key="k-secret")
        await call(there, "fail", secret="s3cret")
        entries = await chain(there)
        assert [(entry.seq, entry.tool, entry.status, entry.error_code) for entry in entries] == [
            (1, "add", "completed", None),
            (2, "add", "completed", None),
            (3, "fail", "failed", "tool_failed"),
        ]
        assert {(entry.agent_id, entry.surface) for entry in entries} == {(there.agent_id, "gateway")}
        assert entries[0].began_at <= entries[0].ended_at
        assert entries[0].arguments_digest == entries[1].arguments_digest != entries[2].arguments_digest
        assert entries[1].idempotency_key_digest
        assert "secret" not in msgspec.json.encode(entries).decode()
        assert (entries[0].previous, first_break(entries)) == (FIRST, None)
        assert await chain(there, "?after=1&limit=1") == entries[1:2]
    async with reopened(there, tmp_path) as again:
        assert await chain(again) == entries


async def test_the_chain_goes_on_after_a_restart(tmp_path: Path) -> None:
    async with gateway_with(worker(), tmp_path) as there:
        await call(there, "add", a=1, b=2)
    async with gateway_with(replaced_name(worker()), tmp_path) as there:
        await call(there, "add", a=3, b=4)
        entries = await chain(there)
        assert [entry.seq for entry in entries] == [1, 2]
        assert first_break(entries) is None


def replaced_name(agent: Agent) -> Agent:
    agent.name = "worker-2"
    return agent


async def test_bodies_are_kept_where_the_host_says_so(tmp_path: Path) -> None:
    async with gateway_with(worker(), tmp_path, audit_bodies=True) as there:
        await call(there, "add", a=1, b=2)
        (entry,) = await chain(there)
        assert entry.arguments == {"a": 1, "b": 2}
        assert entry.result["content"] == [{"type": "text", "text": "3"}]
        assert first_break([entry]) is None


async def test_owners_have_chains_of_their_own(tmp_path: Path) -> None:
    async with gateway_with(worker(), tmp_path) as there:
        await call(there, "add", a=1, b=2)
        owner, _ = await there.gateway.keys.create_owner("other")
        assert await chain(there, owner=owner.owner_id) == []


FIRST_ENTRY = AuditEntry(1, "call_1", "agent_1", "add", "key_1", "gateway", "t0", "t1", "completed", "d", "r")
ENTRY = sealed(FIRST_ENTRY, FIRST)
NEXT = sealed(replace(ENTRY, seq=2, call_id="call_2"), ENTRY.hash)
LAST = sealed(replace(ENTRY, seq=3, call_id="call_3"), NEXT.hash)


@pytest.mark.parametrize(
    ("entries", "broken_at"),
    [
        ([ENTRY, NEXT, LAST], None),
        ([], None),
        ([ENTRY, LAST], 3),
        ([NEXT, ENTRY, LAST], 2),
        ([ENTRY, replace(NEXT, status="failed"), LAST], 2),
        ([ENTRY, sealed(replace(NEXT, status="failed"), ENTRY.hash), LAST], 3),
        ([replace(ENTRY, principal="key_2"), NEXT, LAST], 1),
    ],
)
def test_what_was_changed_left_out_or_moved_shows(entries: list[AuditEntry], broken_at: int | None) -> None:
    assert first_break(entries) == broken_at


async def test_the_newest_entries_come_page_by_page(tmp_path: Path) -> None:
    async with gateway_with(worker(), tmp_path) as there:
        assert await chain(there, "?before=9007199254740992") == []
        for number in range(5):
            await call(there, "add", a=number, b=0)
        newest = await chain(there, "?before=9007199254740992&limit=2")
        assert [entry.seq for entry in newest] == [4, 5]
        assert [entry.seq for entry in await chain(there, "?before=4&limit=10")] == [1, 2, 3]
        assert await chain(there, "?before=1") == []


def test_a_hash_is_that_of_the_json_of_all_else_with_sorted_names():
    """So that anybody can check a chain: the names as they are here, and `null` for what is not there."""
    entry = sealed(replace(ENTRY, arguments={"b": 1, "a": "ä"}, error_code="tool_failed"), NEXT.hash)
    held = asdict(entry)
    assert entry.hash == held.pop("hash")
    assert held["previous"] == NEXT.hash
    text = json.dumps(held, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert entry.hash == hashlib.sha256(text.encode()).hexdigest()
