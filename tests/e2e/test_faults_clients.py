"""Clients that leave, crawl, flood or never read, and a server that stops while they do: nobody else notices."""

import json
import socket
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.e2e.faults import JSON, LEGACY, MODERN, Faulty, RawAgent, all_of, faulty_agent, open_files, opened, request
from tests.e2e.running import Host, eventually

pytestmark = pytest.mark.e2e

SSE = ("Accept", "text/event-stream")


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Generator[Faulty]:
    with faulty_agent(tmp_path_factory.mktemp("clients")) as faulty:
        yield faulty
        assert "Traceback" not in faulty.host.errors.read_text()


@pytest.fixture(scope="module")
def raw(faulty: Faulty) -> RawAgent:
    return RawAgent(faulty.host, "watched")


@pytest.mark.parametrize("accept", [[], [SSE]])
async def test_a_client_that_leaves_cancels_its_call_on_2026_07_28(raw: RawAgent, accept: list[tuple[str, str]]):
    """gateway.md D21: JSON and SSE alike; the agent is told which message nobody waits for."""
    before = open_files(raw.faulty.host.ready.pid)
    with raw.link() as link:
        with opened(raw.faulty.host) as client:
            client.sendall(raw.faulty.bytes_of("do", None, *accept, version=MODERN))
            message = link.delivered()
        assert link.delivered("chat_cancel")["payload"] == {"target_message_id": message["message_id"]}
    await eventually(lambda: open_files(raw.faulty.host.ready.pid) <= before)


@pytest.mark.parametrize(("version", "key"), [(LEGACY, None), (MODERN, "wanted")])
def test_the_call_of_a_client_that_leaves_goes_on_where_that_is_no_cancelling(
    raw: RawAgent, version: str, key: str | None
):
    """gateway.md D21: up to 2025-11-25 leaving is not cancelling, and a key still wants the result."""
    arguments = {} if key is None else {"idempotency_key": key}
    with raw.link() as link:
        with opened(raw.faulty.host) as client:
            client.sendall(raw.faulty.bytes_of("do", arguments, version=version))
            message = link.delivered()
        assert raw.faulty.host.client.get("/healthz").status_code == 200
        assert link.reply(message, {"text": "kept"})["frame"] == "published"
        if key is not None:
            assert raw.faulty.text("do", arguments) == "kept"


async def test_hundreds_that_leave_at_once_leave_nothing_behind(faulty: Faulty):
    host, waits = faulty.host, {"seconds": 1}
    before = open_files(host.ready.pid)
    clients: list[socket.socket] = []
    for number in range(300):
        client = opened(host)
        version, accept = (MODERN, [SSE]) if number % 2 else (LEGACY, [])
        client.sendall(faulty.bytes_of("slow", waits, *accept, version=version))
        clients.append(client)
    await eventually(lambda: open_files(host.ready.pid) >= before + 300)
    for client in clients:
        client.close()

    await eventually(lambda: open_files(host.ready.pid) <= before)
    assert faulty.text("echo", {"text": "quick"}) == "quick"


def test_a_crowd_that_says_nothing_or_only_half_keeps_nobody_else_out(faulty: Faulty):
    host = faulty.host
    whole = faulty.bytes_of("echo", {"text": "late"})
    crowd = [opened(host) for _ in range(300)]
    try:
        for number, client in enumerate(crowd):
            client.sendall(whole[: number % len(whole)])
        assert faulty.text("echo", {"text": "quick"}) == "quick"
        crowd[200].sendall(whole[200:])
        assert b'"text":"late"' in all_of(crowd[200])
    finally:
        for client in crowd:
            client.close()


def test_a_header_without_end_is_cut_off(faulty: Faulty):
    with opened(faulty.host) as client, pytest.raises(ConnectionError):
        client.sendall(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Endless: " + b"a" * 20_000_000)


def test_who_does_not_read_progress_gets_the_result_all_the_same(faulty: Faulty):
    """gateway.md D20: of a flood of notifications the oldest give way; the result is owed."""
    with opened(faulty.host) as client:
        client.sendall(faulty.bytes_of("deltas", {"count": 3000}, SSE))
        assert faulty.text("echo", {"text": "quick"}) == "quick"
        events = [line[6:] for line in all_of(client).decode().splitlines() if line.startswith("data: ")]
    *progress, last = [json.loads(event) for event in events]
    assert last["result"]["content"][0]["text"] == "said"
    values = [one["params"]["progress"] for one in progress]
    assert values == sorted(set(values))


@pytest.mark.parametrize("version", [LEGACY, MODERN])
def test_whoever_waits_when_the_server_stops_gets_one_answer(tmp_path: Path, version: str):
    """One response per id: -32603 `agent_service_unavailable`, on streams and in JSON; for half a request, none."""
    with faulty_agent(tmp_path) as faulty:
        host: Host = faulty.host
        waiting = [opened(host) for _ in range(6)]
        halves = [opened(host) for _ in range(4)]
        call = faulty.bytes_of("slow", {"seconds": 60}, version=version)
        for number, client in enumerate(waiting):
            client.sendall(faulty.bytes_of("slow", {"seconds": 60}, *([SSE] if number % 2 else []), version=version))
        for number, client in enumerate(halves):
            client.sendall(call[: -1 - 100 * number])
        assert faulty.text("echo", {"text": "all are there"}) == "all are there"

        assert host.stop() == 0

        for client in waiting:
            said = all_of(client)
            assert said.count(b'"jsonrpc"') == 1
            assert b'"code":"agent_service_unavailable"' in said
            client.close()
        for client in halves:
            assert b'"jsonrpc"' not in all_of(client)
            client.close()
        assert "Traceback" not in host.errors.read_text()


def test_a_key_never_stands_in_the_log(faulty: Faulty):
    """However it is sent, right or wrong."""
    host, key = faulty.host, "oag_" + "5" * 64
    for head in (("Authorization", key), ("X-Agent-API-Key", key), ("Authorization", f"Bearer {key} {key}")):
        with opened(host) as client:
            client.sendall(request("POST", f"/{faulty.agent_id}/mcp?key={key}", b"{}", head, JSON))
            assert all_of(client).startswith(b"HTTP/1.1 401 ")
    with opened(host) as client:
        client.sendall(f"POST /{key}/mcp HTTP/9.9\r\nX: {key}\r\n\r\n".encode())
        all_of(client)
    assert key not in host.errors.read_text()
