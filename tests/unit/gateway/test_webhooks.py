"""Webhooks from registration to receiver: who is told what, signed how (gateway.md 32-36, D24, D25, D27, §6).

Receivers are real ones on this machine; what fails is in test_webhook_faults.py.
"""

import base64
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import anyio
import pytest
import standardwebhooks

from tests.unit.gateway.hooked import SECRET, Sent, Site, open_hooked, open_receiver

WHSEC = "whsec_" + base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()


def verified(sent: Sent, secret: str) -> Any:
    """The payload, when both signatures hold."""
    pairs = [pair.partition("=")[::2] for pair in sent.headers["x-toolwire-signature"].split(",")]
    at = next(value for name, value in pairs if name == "t")
    mark = hmac.new(secret.encode(), at.encode() + b"." + sent.body, hashlib.sha256).hexdigest()
    assert ("v1", mark) in pairs
    key = secret if secret.startswith("whsec_") else secret.encode()
    return standardwebhooks.Webhook(key).verify(sent.body, sent.headers)


async def test_the_webhook_of_a_call_is_told_of_its_end_with_two_good_signatures(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver() as receiver:
        hook = {"url": receiver.url, "secret": SECRET, "token": "t0ken"}
        answer = await site.call("work", {"say": "hi"}, webhook=hook)
        sent = await receiver.next()
    meta = answer["result"]["_meta"]
    payload = verified(sent, SECRET)
    timestamp, event_id = payload.pop("timestamp"), payload.pop("event_id")
    assert timestamp.endswith("Z")
    assert payload.pop("sequence") > 2
    assert payload == {
        "type": "task_status",
        "task_id": meta["toolwire/task_id"],
        "context_id": meta["toolwire/context_id"],
        "status": "completed",
        "final": True,
        "agent_id": site.agent_id,
        "tool": "work",
    }
    assert sent.headers["webhook-id"] == event_id
    assert sent.headers["authorization"] == "Bearer t0ken"
    assert sent.headers["x-toolwire-event"] == sent.headers["x-beeos-event"] == "task.state"
    assert sent.headers["x-toolwire-task-id"] == sent.headers["x-beeos-task-id"] == meta["toolwire/task_id"]
    assert sent.headers["x-beeos-signature"] == sent.headers["x-toolwire-signature"]
    assert sent.headers["x-beeos-webhook-format"] == "openapi"


async def test_a_secret_of_standard_webhooks_is_decoded_for_its_own_signature_alone(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver() as receiver:
        await site.call("work", webhook={"url": receiver.url, "secret": WHSEC})
        assert verified(await receiver.next(), WHSEC)["final"] is True


async def test_without_a_secret_there_is_no_signature_and_without_the_setting_no_header_of_others(tmp_path: Path):
    async with open_hooked(tmp_path, compat_headers=()) as site, open_receiver() as receiver:
        await site.call("work", webhook={"url": receiver.url})
        headers = (await receiver.next()).headers
    assert not {"x-toolwire-signature", "webhook-signature", "authorization"} & set(headers)
    assert [name for name in headers if "beeos" in name] == []
    assert headers["webhook-id"].startswith("evt_")


async def test_a_standing_webhook_is_told_of_every_call_of_its_tools(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver() as receiver:
        wanted = {"url": receiver.url, "secret": SECRET, "tools": ["work"]}
        hook = await site.ask("POST", f"{site.base}/webhooks", wanted, status=201)
        assert (hook["has_secret"], hook["tools"]) == (True, ["work"])
        assert "secret" not in hook
        await site.call("rest")
        failed = await site.call("work", {"say": "fail"})
        assert failed["result"]["isError"] is True
        await site.call("work", {"idempotency_key": "k"}, key=site.key)
        told = [verified(await receiver.next(), SECRET) for _ in range(2)]
    assert [(one["tool"], one["status"]) for one in told] == [("work", "failed"), ("work", "completed")]


async def test_the_other_events_are_told_when_they_are_wanted_in_rising_sequence(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver() as receiver:
        events = ["queued", "running", "completed"]
        await site.call("work", webhook={"url": receiver.url, "events": events})
        told = sorted([(await receiver.next()).json() for _ in events], key=lambda one: one["sequence"])
    assert [(one["status"], one["final"]) for one in told] == [
        ("queued", False),
        ("running", False),
        ("completed", True),
    ]
    assert told[0]["sequence"] < told[1]["sequence"] < told[2]["sequence"]
    assert len({one["event_id"] for one in told}) == 3


async def begun(site: Site, tasks: Any, arguments: dict[str, Any], **more: Any) -> str:
    """A call that waits for the gate; its task's id."""
    tasks.start_soon(lambda: site.call("work", {"say": "wait", **arguments}, **more))
    with anyio.fail_after(10):
        await site.waiting.wait()
    return "call_" + site.taken[-1]["message_id"].partition("_")[2]


async def test_a_webhook_of_one_task_is_an_upsert_by_url_and_hears_of_a_plain_call(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver() as receiver, anyio.create_task_group() as tasks:
        task_id = await begun(site, tasks, {})
        base = f"{site.base}/tasks/{task_id}/webhooks"
        first = await site.ask("POST", base, {"url": receiver.url, "secret": SECRET}, status=201)
        again = await site.ask("POST", base, {"url": receiver.url, "secret": "", "token": "x"}, status=201)
        assert first["webhook_id"] == again["webhook_id"]
        assert (again["task_id"], again["has_secret"]) == (task_id, True)
        listed = await site.ask("GET", base)
        assert [one["webhook_id"] for one in listed] == [first["webhook_id"]]
        site.gate.set()
        sent = await receiver.next()
        assert verified(sent, SECRET)["task_id"] == task_id
        assert sent.headers["authorization"] == "Bearer x"
        assert (await site.settled(first))["status"] == "succeeded"


async def test_a_call_that_is_watched_since_goes_on_when_its_client_goes_away(tmp_path: Path):
    """gateway.md §6, Time-outs: on 2026-07-28 a disconnect cancels a call unless somebody else wants its end."""
    left = anyio.Event()
    async with open_hooked(tmp_path) as site, open_receiver() as receiver, anyio.create_task_group() as tasks:
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
        meta |= {"io.modelcontextprotocol/clientCapabilities": {}}
        params = {"name": "work", "arguments": {"say": "wait"}, "_meta": meta}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
        headers = {
            "authorization": f"Bearer {site.bak}",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "content-length": str(len(body)),
            "host": "localhost",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": "work",
        }
        requests = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict[str, Any]:
            if not requests:
                await left.wait()
                return {"type": "http.disconnect"}
            return requests.pop()

        async def send(message: Any) -> None:
            return None

        scope: dict[str, Any] = {"type": "http", "method": "POST", "path": f"/{site.agent_id}/mcp", "query_string": b""}
        scope["headers"] = [(name.encode(), value.encode()) for name, value in headers.items()]

        async def ask() -> None:
            await site.gateway.app(scope, receive, send)

        tasks.start_soon(ask)
        with anyio.fail_after(10):
            await site.waiting.wait()
        task_id = "call_" + site.taken[-1]["message_id"].partition("_")[2]
        await site.ask("POST", f"{site.base}/tasks/{task_id}/webhooks", {"url": receiver.url}, status=201)
        left.set()
        await anyio.wait_all_tasks_blocked()
        site.gate.set()
        assert (await receiver.next()).json()["status"] == "completed"


async def test_a_webhook_registered_after_the_end_is_told_of_it_at_once(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver() as receiver:
        task_id = (await site.call("work"))["result"]["_meta"]["toolwire/task_id"]
        wanted = {"url": receiver.url}
        await site.ask("POST", f"{site.base}/tasks/{task_id}/webhooks", wanted, status=201, key=site.bak)
        assert (await receiver.next()).json()["status"] == "completed"


async def test_a_call_that_a_webhook_watches_goes_on_after_its_time_out(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver() as receiver:
        answer = await site.call("work", {"say": "wait"}, webhook={"url": receiver.url}, timeout_ms=50)
        assert (answer["error"]["code"], answer["error"]["data"]["code"]) == (-32003, "service_timeout")
        site.gate.set()
        told = (await receiver.next()).json()
    assert (told["task_id"], told["status"]) == (answer["error"]["data"]["task_id"], "completed")


async def test_a_task_over_rest_brings_its_webhook_along(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver() as receiver:
        body = {"tool": "work", "webhook": {"url": receiver.url, "secret": SECRET, "token": "t"}}
        task = await site.ask("POST", f"{site.base}/tasks", body, status=202, key=site.bak)
        sent = await receiver.next()
        assert verified(sent, SECRET)["task_id"] == task["task_id"]
        assert sent.headers["authorization"] == "Bearer t"
        body["webhook"] = {"url": "https://10.0.0.1/"}
        error = await site.ask("POST", f"{site.base}/tasks", body, status=400)
        assert error["details"]["param"] == "webhook.url"


async def test_a_standing_webhook_hears_of_calls_over_rest(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver() as receiver:
        await site.ask("POST", f"{site.base}/webhooks", {"url": receiver.url}, status=201)
        called = await site.ask("POST", f"{site.base}/invoke", {"tool": "work"})
        assert (await receiver.next()).json()["task_id"] == called["task_id"]


async def test_a_repeat_under_a_key_tells_nobody_again(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver() as receiver:
        for _ in range(3):
            await site.call("work", {"idempotency_key": "k"}, webhook={"url": receiver.url})
        await site.call("work", {"idempotency_key": "other"}, webhook={"url": receiver.url})
        first, second = await receiver.next(), await receiver.next()
        assert first.json()["task_id"] != second.json()["task_id"]
        assert receiver.waiting == 0
    assert len(site.taken) == 2


async def test_while_a_secret_is_rotated_both_sign(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver() as receiver:
        new = "another-secret-of-32-characters!!"
        await site.ask("POST", f"{site.base}/webhooks", {"url": receiver.url, "secret": SECRET}, status=201)
        await site.ask("POST", f"{site.base}/webhooks", {"url": receiver.url, "secret": new}, status=201)
        await site.call("work")
        sent = await receiver.next()
    assert verified(sent, SECRET) == verified(sent, new)
    assert len(sent.headers["webhook-signature"].split(" ")) == 2


async def test_a_key_sees_and_hears_of_its_own_alone(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver() as receiver:
        base = f"{site.base}/webhooks"
        of_owner = await site.ask("POST", base, {"url": receiver.url + "/owner"}, status=201)
        of_key = await site.ask("POST", base, {"url": receiver.url + "/key"}, status=201, key=site.bak)
        assert [one["webhook_id"] for one in await site.ask("GET", base, key=site.bak)] == [of_key["webhook_id"]]
        assert len(await site.ask("GET", base)) == 2
        refused = await site.ask("DELETE", f"{base}/{of_owner['webhook_id']}", key=site.bak, status=404)
        assert refused["code"] == "webhook_not_found"
        other = (await site.ask("POST", "/keys", {"agent_id": site.agent_id}, status=201))["key"]
        assert await site.ask("GET", base, key=other) == []
        await site.call("work", key=other)
        assert (await site.settled(of_owner))["status"] == "succeeded"
        assert await site.deliveries(of_key) == []
        task_id = (await site.call("work"))["result"]["_meta"]["toolwire/task_id"]
        place = f"{site.base}/tasks/{task_id}/webhooks"
        await site.ask("GET", place, key=other, status=404)
        await site.ask("POST", place, {"url": receiver.url + "/of-owner"}, status=201)
        assert await site.ask("GET", place, key=site.bak) == []
        assert len(await site.ask("GET", place)) == 1
        taken = {"url": receiver.url + "/of-owner", "secret": SECRET}
        assert (await site.ask("POST", place, taken, key=site.bak, status=409))["code"] == "conflict"


async def test_a_deleted_webhook_is_told_nothing_more(tmp_path: Path):
    async with open_hooked(tmp_path, webhook_schedule_s=(0.2, 0.2)) as site, open_receiver(500) as receiver:
        hook = await site.ask("POST", f"{site.base}/webhooks", {"url": receiver.url}, status=201)
        await site.call("work")
        await receiver.next()
        await site.ask("DELETE", f"{site.base}/webhooks/{hook['webhook_id']}", status=204)
        await site.call("work", webhook={"url": receiver.url + "/2"})
        await receiver.next()
        await site.ask("GET", f"{site.base}/webhooks/{hook['webhook_id']}", status=404)
        assert receiver.waiting == 0


@pytest.mark.parametrize(
    ("hook", "param"),
    [
        ({}, "_meta.toolwire/webhook"),
        ("https://example.com", "_meta.toolwire/webhook"),
        ({"url": "https://example.com", "secret": "short"}, "_meta.toolwire/webhook.secret"),
        ({"url": "https://example.com", "secret": "whsec_not-base64-at-all!"}, "_meta.toolwire/webhook.secret"),
        ({"url": "https://example.com", "events": ["ended"]}, "_meta.toolwire/webhook.events"),
        ({"url": "https://example.com", "token": "a\nb"}, "_meta.toolwire/webhook.token"),
        ({"url": "https://example.com", "tools": ["work"]}, "_meta.toolwire/webhook.tools"),
        ({"url": "https://10.0.0.1/"}, "_meta.toolwire/webhook.url"),
    ],
)
async def test_a_webhook_that_cannot_be_used_refuses_its_call_before_it_begins(hook: Any, param: str, tmp_path: Path):
    async with open_hooked(tmp_path) as site:
        error = (await site.call("work", webhook=hook))["error"]
    assert (error["code"], error["data"]["code"], error["data"]["param"]) == (-32602, "invalid_param", param)
    assert site.taken == []
