"""Agents that fail in every way, and real callers of them: one answer each, the right one, and nobody else is harmed.

The agents are a Python one (tests/e2e/faults.py), one that speaks the link by hand, and one that polls over HTTP.
"""

import json
import signal
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.e2e.faults import Faulty, RawAgent, faulty_agent, open_files
from tests.e2e.running import Process, eventually

pytestmark = pytest.mark.e2e

QUICK = {"TOOLWIRE_DELIVERY_LEASE_S": "0.3", "TOOLWIRE_CALL_TIMEOUT_S": "5"}


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Generator[Faulty]:
    """A host that gives up quickly, with the Python agent attached."""
    with faulty_agent(tmp_path_factory.mktemp("agents"), env=QUICK) as faulty:
        yield faulty
        assert faulty.text("echo", {"text": "still here"}) == "still here"
        log = faulty.host.errors.read_text()
        assert "Traceback" not in log
        assert "hunter2" not in log


@pytest.fixture(scope="module")
def raw(faulty: Faulty) -> RawAgent:
    return RawAgent(faulty.host, "raw")


@pytest.mark.parametrize("tool", ["boom", "leave"])
def test_what_a_tool_raises_is_a_failed_result_that_tells_its_type_and_where_the_log_has_it(faulty: Faulty, tool: str):
    """gateway.md D18; also a tool that ends the interpreter ends its own call alone."""
    result = faulty.call(tool)["result"]
    assert result["isError"] is True
    text = result["content"][0]["text"]
    assert text.startswith(f"tool '{tool}' failed: ")
    assert result["_meta"]["toolwire/task_id"] in text
    assert "hunter2" not in text
    assert faulty.process is not None
    assert "hunter2" in faulty.process.errors.read_text() or tool != "boom"


def test_an_answer_that_is_too_large_is_a_failure_and_not_the_end_of_the_link(faulty: Faulty):
    """gateway.md §6: `reply_limit_bytes` (32 MiB), D17: what fits arrives whole, as a file above 1 MiB."""
    shown, link = faulty.call("large", {"megabytes": 4})["result"]["content"]
    assert "4194304 bytes in all" in shown["text"]
    assert len(httpx2.get(link["resource"]["uri"], timeout=30).content) == 4 * 1024 * 1024
    for megabytes in (33, 50):
        result = faulty.call("large", {"megabytes": megabytes})["result"]
        assert result["isError"] is True
        assert "cannot be sent" in result["content"][0]["text"]


def test_a_thread_that_is_blocked_holds_up_nobody_else_and_its_caller_only_to_the_time_out(faulty: Faulty):
    """gateway.md 42: exactly this code and message."""
    blocked = faulty.calling("block", {"seconds": 2}, {"toolwire/timeout_ms": 300})
    assert faulty.text("echo", {"text": "quick"}) == "quick"
    error = blocked.outcome()["error"]
    assert (error["code"], error["message"]) == (-32003, "Agent reply timeout")
    assert (error["data"]["code"], error["data"]["retryable"]) == ("service_timeout", False)


async def test_a_thousand_calls_at_once_get_each_its_own_answer(faulty: Faulty):
    pid = faulty.host.ready.pid
    before = open_files(pid)
    answers: dict[int, str] = {}
    limits = httpx2.Limits(max_connections=200)

    async def call(client: httpx2.AsyncClient, number: int) -> None:
        params = {"name": "echo", "arguments": {"text": str(number)}}
        body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        answer = (await client.post(f"/{faulty.agent_id}/mcp", json=body, headers=faulty.key)).json()
        assert answer["id"] == number
        answers[number] = answer["result"]["content"][0]["text"]

    async with (
        httpx2.AsyncClient(base_url=faulty.host.ready.url, limits=limits, timeout=30, trust_env=False) as client,
        anyio.create_task_group() as tasks,
    ):
        for number in range(1000):
            tasks.start_soon(call, client, number)
    assert answers == {number: str(number) for number in range(1000)}
    await eventually(lambda: open_files(pid) <= before + 5)


def test_an_agent_that_is_not_there_is_told_at_once(faulty: Faulty):
    """gateway.md D16: -32603 `agent_offline` with HTTP 200, and not after the time-out of a call."""
    nobody = RawAgent(faulty.host, "nobody")
    with nobody.link():
        pass
    began = time.monotonic()
    error = nobody.faulty.call("do", {"idempotency_key": "once"})["error"]
    assert (error["code"], error["data"]["code"], error["data"]["retryable"]) == (-32603, "agent_offline", True)
    assert time.monotonic() - began < 4  # the time-out is 5 s

    with nobody.link() as link:  # it has not taken the key
        calling = nobody.faulty.calling("do", {"idempotency_key": "once"})
        link.reply(link.delivered(), {"text": "now"})
        assert calling.outcome()["result"]["content"][0]["text"] == "now"


def test_an_agent_that_dies_in_the_middle_of_a_call_is_lost_and_the_next_one_takes_its_place(tmp_path: Path):
    """gateway.md §6: it may have begun, so it is not run again; a repeat under the key is told that nobody knows."""
    with faulty_agent(tmp_path, env=QUICK) as faulty:
        assert faulty.code("die") == "agent_lost"
        with Process(["agent", "run", "faulty:agent"], tmp_path):
            faulty.host.attached("faulty")
            assert faulty.code("die", {"idempotency_key": "k"}) == "agent_lost"
            assert faulty.code("die", {"idempotency_key": "k"}) == "outcome_unknown"
        with Process(["agent", "run", "faulty:agent"], tmp_path):
            faulty.host.attached("faulty")
            assert faulty.text("echo", {"text": "again"}) == "again"


def test_an_agent_that_does_not_react_any_more_costs_its_callers_their_time_and_comes_back(tmp_path: Path):
    with faulty_agent(tmp_path, env=QUICK) as faulty:
        assert faulty.process is not None
        faulty.process.popen.send_signal(signal.SIGSTOP)
        assert faulty.code("echo", {"text": "x"}, {"toolwire/timeout_ms": 200}) == "service_timeout"
        late = faulty.call("echo", {"text": "late", "idempotency_key": "k"}, {"toolwire/timeout_ms": 200})
        assert (late["error"]["code"], late["error"]["data"]["retryable"]) == (-32003, True)
        faulty.process.popen.send_signal(signal.SIGCONT)
        assert faulty.text("echo", {"text": "late", "idempotency_key": "k"}) == "late"


@pytest.mark.parametrize(
    ("kind", "payload", "code"),
    [
        ("agent_reply", {"text": 5}, "invalid_agent_response"),
        ("agent_reply", {"content": "x"}, "invalid_agent_response"),
        ("agent_reply", {"content": [{"type": "video"}]}, "invalid_agent_response"),
        ("agent_reply", {"content": [{"type": "image", "data": "***", "mimeType": "image/png"}]},
         "invalid_agent_response"),
        ("agent_reply", {"text": "x", "is_error": "yes"}, "invalid_agent_response"),
        ("agent_reply", {"text": "who knows", "is_error": True, "code": "outcome_unknown"}, "outcome_unknown"),
        ("agent_busy", {}, "agent_busy"),
    ],
)  # fmt: skip
def test_an_invalid_answer_ends_the_call_at_once_with_its_code(
    raw: RawAgent, kind: str, payload: dict[str, Any], code: str
):
    """gateway.md D17, §6."""
    with raw.link() as link:
        calling = raw.faulty.calling("do")
        link.reply(link.delivered(), payload, kind)
        error = calling.outcome()["error"]
        assert (error["code"], error["data"]["code"]) == (-32603, code)


def test_an_invalid_answer_is_stored_under_the_key_and_busy_is_not(raw: RawAgent):
    """gateway.md D5, §6; a replayed error carries its mark."""
    with raw.link() as link:
        for kind, payload in (("agent_busy", {}), ("agent_reply", {"text": 5})):
            calling = raw.faulty.calling("do", {"idempotency_key": "same"})
            link.reply(link.delivered(), payload, kind)
            assert "idempotency" not in calling.outcome()["error"]["data"]
        replayed = raw.faulty.call("do", {"idempotency_key": "same"})["error"]["data"]
        assert (replayed["code"], replayed["idempotency"]["replayed"]) == ("invalid_agent_response", True)


def test_only_the_first_answer_counts_and_a_late_one_is_told_so(raw: RawAgent):
    with raw.link() as link:
        calling = raw.faulty.calling("do")
        message = link.delivered()
        assert link.reply(message, {"text": "first"}, ref=1)["frame"] == "published"
        assert link.reply(message, {"text": "second"}, ref=2)["idempotent"] is True
        assert link.reply(message, {"text": "third"}, "agent_reply_error", ref=3)["idempotent"] is True
        assert link.reply(message, {"text": "more"}, "agent_reply_delta", ref=4)["code"] == "channel_closed"
        assert calling.outcome()["result"]["content"][0]["text"] == "first"

        calling = raw.faulty.calling("do", meta={"toolwire/timeout_ms": 100})
        message = link.delivered()
        assert link.delivered("chat_cancel")["payload"] == {"target_message_id": message["message_id"]}
        assert link.reply(message, {"text": "late"}, ref=5)["code"] == "channel_closed"
        assert calling.outcome()["error"]["code"] == -32003


def test_a_late_answer_under_a_key_is_there_for_the_retry(raw: RawAgent):
    """gateway.md D5: the agent is asked once."""
    with raw.link() as link:
        calling = raw.faulty.calling("do", {"idempotency_key": "late"}, {"toolwire/timeout_ms": 100})
        message = link.delivered()
        assert calling.outcome()["error"]["data"]["retryable"] is True
        assert link.reply(message, {"text": "late"})["frame"] == "published"
        retried = raw.faulty.call("do", {"idempotency_key": "late"})["result"]
        assert retried["content"][0]["text"] == "late"
        assert retried["_meta"]["toolwire/idempotency"]["replayed"] is True


def test_an_answer_to_nothing_is_told_and_ends_no_call(raw: RawAgent):
    with raw.link() as link:
        calling = raw.faulty.calling("do")
        message = link.delivered()
        assert link.reply({**message, "message_id": "msg_none"}, {"text": "x"}, ref=1)["code"] == "invalid_param"
        assert link.reply({**message, "channel_id": "ch_none"}, {"text": "x"}, ref=2)["code"] == "channel_not_found"
        link.reply(message, {"text": "that one"}, ref=3)
        assert calling.outcome()["result"]["content"][0]["text"] == "that one"


def test_rubbish_on_a_link_is_refused_piece_by_piece_and_too_much_of_it_ends_the_link(raw: RawAgent):
    with raw.link() as link:
        for rubbish in ("", "x", "[1]", '{"frame":"nope"}', b"\xff\xfe", "[" * 10_000, '{"frame":"publish","ref":NaN}'):
            link.raw(rubbish)
            refused = link.next()
            assert (refused["frame"], refused["code"]) == ("refused", "invalid_request")
        calling = raw.faulty.calling("do")
        link.reply(link.delivered(), {"text": "all the same"})
        assert calling.outcome()["result"]["content"][0]["text"] == "all the same"
        for _ in range(20):
            link.raw("x")
        with pytest.raises(ConnectionClosed):
            link.delivered()


def test_an_answer_that_is_nested_too_deeply_is_refused_and_harms_nobody(raw: RawAgent):
    with raw.link() as link:
        calling = raw.faulty.calling("do")
        message = link.delivered()
        for depth in (200, 900, 990, 10_000):
            said = {"frame": "publish", "ref": depth, "channel_id": message["channel_id"], "type": "agent_reply"}
            frame = json.dumps({**said, "in_reply_to": message["message_id"], "payload": {"structured": "DEEP"}})
            link.raw(frame.replace('"DEEP"', "[" * depth + "]" * depth))
            assert link.next()["code"] == "invalid_request"
        link.reply(message, {"text": "flat"})
        assert calling.outcome()["result"]["content"][0]["text"] == "flat"


def test_a_link_needs_an_agents_key_and_a_wrong_one_makes_no_noise(faulty: Faulty):
    ready = faulty.host.ready
    for key, status in (("agk_" + "0" * 64, 401), (ready.bak, 403), (ready.owner_key, 403)):
        stranger = RawAgent.__new__(RawAgent)
        stranger.__dict__.update(_url=ready.url.replace("http", "ws") + "/api/v1/agents/link", key=key)
        with pytest.raises(InvalidStatus) as refused, stranger.link():
            pass
        assert refused.value.response.status_code == status
    assert "handshake" not in faulty.host.errors.read_text()


def test_a_key_that_is_revoked_ends_the_link(faulty: Faulty):
    agent = RawAgent(faulty.host, "revoked")
    with agent.link() as link:
        keys = faulty.host.toolwire("key", "list", "--agent", "revoked", "--json").json()["keys"]
        assert faulty.host.toolwire("key", "revoke", keys[0]["key_id"]).code == 0
        with pytest.raises(ConnectionClosed):
            link.next()
    assert agent.faulty.code("do") == "agent_offline"


def test_an_agent_that_takes_one_call_at_a_time_refuses_the_second_at_once(faulty: Faulty):
    """gateway.md 53: busy_reject."""
    agent = RawAgent(faulty.host, "single", mode="busy_reject")
    with agent.link() as link:
        first = agent.faulty.calling("do")
        message = link.delivered()
        assert agent.faulty.code("do") == "agent_busy"
        link.reply(message, {"text": "done"})
        assert first.outcome()["result"]["content"][0]["text"] == "done"


def test_a_call_that_its_agent_took_and_lost_goes_to_the_same_journal_alone(faulty: Faulty):
    """gateway.md §6, lost calls."""
    agent = RawAgent(faulty.host, "journals")
    with agent.link("one") as link:
        calling = agent.faulty.calling("do")
        message = link.delivered()
    with agent.link("one") as link:
        again = link.delivered()
        assert again["message_id"] == message["message_id"]
        link.reply(again, {"text": "from the journal"})
        assert calling.outcome()["result"]["content"][0]["text"] == "from the journal"
        calling = agent.faulty.calling("do")
        link.delivered()
    with agent.link("two"):
        assert calling.outcome()["error"]["data"]["code"] == "agent_lost"


class Poller:
    """An agent that fetches its messages over HTTP."""

    def __init__(self, faulty: Faulty, name: str) -> None:
        made = faulty.host.toolwire("agent", "create", name, "--json").json()
        self.faulty = Faulty(faulty.host, made["agent_id"])
        self.key = {"authorization": f"Bearer {made['agent_key']}"}
        skills = [{"name": "do", "inputSchema": {"type": "object"}}]
        self.post("agents/sync", {"agents": [{"name": name, "skills": skills}]})
        self.deliveries = f"agents/{self.faulty.agent_id}/deliveries"
        assert self.read() == []

    def post(self, path: str, body: Any) -> Any:
        answer = self.faulty.host.client.post(f"/api/v1/{path}", json=body, headers=self.key).json()
        return answer["data"] if answer["success"] else answer["error"]["code"]

    def read(self, block_ms: int = 0) -> Any:
        return self.post(f"{self.deliveries}/read", {"block_ms": block_ms})

    def reply(self, message: Any, payload: Any, **more: Any) -> Any:
        said = {"type": "agent_reply", "payload": payload, "in_reply_to": message["message_id"], **more}
        return self.post(f"channels/{message['channel_id']}/messages", said)


def test_a_poller_that_does_everything_wrong_is_told_each_time_and_may_still_answer(faulty: Faulty):
    """gateway.md §3, §6: the mistakes that a shell script makes."""
    poller = Poller(faulty, "clumsy")
    calling = poller.faulty.calling("do")
    [delivery] = poller.read(5000)
    message = delivery["message"]

    assert poller.reply(message, {"text": "x"}, sender_id="agent_demo") == "forbidden"
    assert poller.reply(message, "x") == "invalid_param"
    assert poller.reply(message, {"text": "x"}, in_reply_to="msg_none") == "invalid_param"
    assert poller.reply(message, {"text": "x"}, message_id=message["message_id"]) == "invalid_param"
    assert poller.reply(message, {"text": "x"}, surprise=True) == "invalid_param"
    assert poller.reply({**message, "channel_id": "ch_none"}, {"text": "x"}) == "channel_not_found"
    assert poller.post(f"{poller.deliveries}/read", {"max": 0}) == "invalid_param"
    assert poller.post("agents/agent_demo/deliveries/read", {}) == "forbidden"
    assert poller.post(f"{poller.deliveries}/renew", {"delivery_ids": ["x", delivery["delivery_id"] + "9"]}) == []
    assert poller.post(f"{poller.deliveries}/renew", {"delivery_ids": [delivery["delivery_id"]]}) != []

    assert poller.reply(message, {"text": "at last"})["idempotent"] is False
    assert poller.reply(message, {"text": "twice"})["idempotent"] is True
    assert calling.outcome()["result"]["content"][0]["text"] == "at last"


def test_a_poller_whose_lease_lapses_loses_the_call_and_one_that_gives_back_may_do_so_three_times(faulty: Faulty):
    poller = Poller(faulty, "forgetful")
    calling = poller.faulty.calling("do")
    assert len(poller.read(5000)) == 1
    assert calling.outcome()["error"]["data"]["code"] == "agent_lost"

    calling = poller.faulty.calling("do")
    for _ in range(4):
        [delivery] = poller.read(5000)
        assert poller.post(f"{poller.deliveries}/nack", {"delivery_ids": [delivery["delivery_id"]]}) != []
    assert calling.outcome()["error"]["data"]["code"] == "agent_lost"
    assert poller.read() == []


def test_a_registration_that_cannot_be_taken_leaves_the_one_before(faulty: Faulty):
    """gateway.md D28, D11: taken whole or not at all."""
    poller = Poller(faulty, "changeable")
    for skill in (
        {"name": "not a name"},
        {"name": "x", "inputSchema": {"type": "array"}},
        {"name": "x", "inputSchema": {"type": "object", "$ref": "http://127.0.0.1:1/schema"}},
        {"name": "x", "inputSchema": {"type": "object", "properties": {"idempotency_key": {"type": "integer"}}}},
        {"name": "x", "timeout_ms": 0},
    ):
        assert poller.post("agents/sync", {"agents": [{"name": "changeable", "skills": [skill]}]}) == "invalid_param"
    assert poller.post("agents/sync", {"agents": []}) == "invalid_param"
    listed = faulty.host.toolwire("tools", "list", "changeable", "--json").json()["tools"]
    assert [tool["name"] for tool in listed] == ["do"]
    assert json.dumps(listed).count("inputSchema") == 1
