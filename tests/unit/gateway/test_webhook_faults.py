"""What becomes of a delivery whose receiver fails, and of webhooks that may not be told.

Spec: gateway.md 35, 37, 38, D26, D27. The schedule is that of tests: three attempts in no time.
"""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.unit.gateway.hooked import SECRET, Receiver, Site, open_hooked, open_receiver


async def standing(site: Site, receiver: Receiver, **more: Any) -> dict[str, Any]:
    return await site.ask("POST", f"{site.base}/webhooks", {"url": receiver.url, **more}, status=201)


async def disabled(site: Site, hook: dict[str, Any]) -> dict[str, Any]:
    """A standing webhook as soon as it is disabled."""
    with anyio.fail_after(10):
        while True:
            shown = await site.ask("GET", f"{site.base}/webhooks/{hook['webhook_id']}")
            if shown["disabled_at"]:
                return shown
            await anyio.sleep(0.01)


async def settled_after_a_call(site: Site, hook: dict[str, Any]) -> dict[str, Any]:
    """The delivery of the end of a call, when it is over."""
    count = len(await site.deliveries(hook))
    await site.call("work")
    with anyio.fail_after(10):
        while True:
            found = await site.deliveries(hook)
            if len(found) > count and found[0]["status"] != "pending":
                return found[0]
            await anyio.sleep(0.01)


@pytest.mark.parametrize(
    ("answers", "status", "error"),
    [
        ([500, 503, 404], 404, "HTTP status 404"),
        (["hang"] * 3, None, "no answer within 0.2 s"),
        (["drop"] * 3, None, None),
        (["not HTTP at all"] * 3, None, None),
        (["302 Found\r\nlocation: http://127.0.0.1:1/"] * 3, 302, "HTTP status 302"),
    ],
    ids=["errors", "hangs", "drops", "gibberish", "redirects"],
)
async def test_a_receiver_that_fails_is_tried_by_the_schedule_and_then_is_a_dead_letter(
    answers: Sequence[Any], status: int | None, error: str | None, tmp_path: Path
):
    async with open_hooked(tmp_path, webhook_timeout_s=0.2) as site, open_receiver(*answers) as receiver:
        hook = await standing(site, receiver, secret=SECRET)
        over = await settled_after_a_call(site, hook)
    assert (over["status"], over["attempt_num"]) == ("dead_letter", 3)
    assert over["last_response_status"] == status
    assert error is None or over["last_error"] == error
    assert over["last_error"]
    assert over["completed_at"]
    assert over["next_attempt_at"] is None
    assert len({(sent.headers["webhook-id"], sent.body) for sent in receiver.sent}) == 1
    assert len(receiver.sent) == 3


async def test_a_redirect_to_another_place_is_not_followed(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver() as inner:
        async with open_receiver(*[f"307 Temporary Redirect\r\nlocation: {inner.url}"] * 3) as receiver:
            over = await settled_after_a_call(site, await standing(site, receiver))
        assert (over["status"], over["last_response_status"]) == ("dead_letter", 307)
        assert inner.sent == []


async def test_a_receiver_that_streams_for_ever_has_received_it(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver("stream") as receiver:
        over = await settled_after_a_call(site, await standing(site, receiver))
    assert (over["status"], over["attempt_num"], over["last_response_status"]) == ("succeeded", 1, 200)


async def test_a_receiver_that_hangs_does_not_keep_others_waiting(tmp_path: Path):
    settings: dict[str, Any] = {"webhook_timeout_s": 0.3, "webhook_parallel": 2, "webhook_schedule_s": (60.0,)}
    hangs = ["hang"] * 100
    async with open_receiver(*hangs) as hanging, open_receiver() as good, open_hooked(tmp_path, **settings) as site:
        for n in range(12):
            await site.call("work", webhook={"url": f"{hanging.url}/{n}"})
        await site.call("work", webhook={"url": good.url})
        await good.next()
        assert len(hanging.sent) < 6


async def test_one_that_recovers_is_told_once_it_does(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver(500, 204) as receiver:
        over = await settled_after_a_call(site, await standing(site, receiver))
    assert (over["status"], over["attempt_num"], over["last_error"]) == ("succeeded", 2, None)


async def test_a_receiver_is_not_asked_before_the_time_it_names(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver("503 Busy\r\nretry-after: 100") as receiver:
        hook = await standing(site, receiver)
        await site.call("work")
        await receiver.next()
        with anyio.fail_after(10):
            while True:
                (found,) = await site.deliveries(hook)
                if found["attempt_num"] == 1:
                    break
                await anyio.sleep(0.01)
    tried, due = (datetime.fromisoformat(found[name]) for name in ("last_attempted_at", "next_attempt_at"))
    assert found["status"] == "pending"
    assert (due - tried).total_seconds() >= 100


async def test_a_receiver_that_is_gone_is_told_nothing_more_until_it_is_registered_again(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver(410) as receiver:
        hook = await standing(site, receiver)
        over = await settled_after_a_call(site, hook)
        assert (over["status"], over["attempt_num"], over["last_response_status"]) == ("failed", 1, 410)
        shown = await disabled(site, hook)
        assert "410" in shown["disabled_reason"]
        await site.call("work")
        assert len(await site.deliveries(hook)) == 1
        again = await standing(site, receiver)
        assert (again["webhook_id"], again["disabled_at"]) == (hook["webhook_id"], None)
        assert (await settled_after_a_call(site, hook))["status"] == "succeeded"


async def test_ten_dead_letters_in_a_row_disable_a_webhook(tmp_path: Path):
    async with open_hooked(tmp_path, webhook_schedule_s=(0.001,)) as site, open_receiver(*[500] * 20) as receiver:
        hook = await standing(site, receiver)
        for _ in range(10):
            assert (await settled_after_a_call(site, hook))["status"] == "dead_letter"
        shown = await disabled(site, hook)
        assert shown["disabled_reason"] == "10 deliveries in a row were given up"
        await site.call("work")
        assert len(await site.deliveries(hook)) == 10


async def test_a_dead_letter_is_sent_again_with_the_same_bytes_and_a_fresh_signature(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver(500, 500, 500) as receiver:
        hook = await standing(site, receiver, secret=SECRET)
        dead = await settled_after_a_call(site, hook)
        place = f"{site.base}/webhooks/{hook['webhook_id']}/deliveries"
        again = await site.ask("POST", f"{place}/{dead['delivery_id']}/redeliver", status=202)
        assert (again["status"], again["attempt_num"], again["event_id"]) == ("pending", 0, dead["event_id"])
        over = await site.settled(hook)
        assert (over["delivery_id"], over["status"]) == (again["delivery_id"], "succeeded")
        refused = await site.ask("POST", f"{place}/{over['delivery_id']}/redeliver", status=409)
        assert refused["code"] == "conflict"
        unknown = await site.ask("POST", f"{place}/dlv_0/redeliver", status=404)
        assert unknown["code"] == "webhook_not_found"
        assert [one["replayed_as"] for one in await site.deliveries(hook)] == [None, again["delivery_id"]]
    first, last = receiver.sent[0], receiver.sent[-1]
    assert (first.body, first.headers["webhook-id"]) == (last.body, last.headers["webhook-id"])
    assert "x-toolwire-signature" in last.headers


async def test_all_dead_letters_are_replayed_once(tmp_path: Path):
    async with open_hooked(tmp_path, webhook_schedule_s=(0.001,)) as site, open_receiver(*[500] * 6) as receiver:
        hook = await standing(site, receiver)
        for _ in range(3):
            await settled_after_a_call(site, hook)
        place = f"{site.base}/webhooks/{hook['webhook_id']}"
        late = {"since": "2999-01-01T00:00:00Z"}
        assert await site.ask("POST", f"{place}/replay", late, status=202) == {"replayed": 0}
        assert await site.ask("POST", f"{place}/replay", {"status": ["dead_letter"]}, status=202) == {"replayed": 3}
        with anyio.fail_after(10):
            for _ in range(6 + 3):
                await receiver.next()
        assert await site.ask("POST", f"{place}/replay", {}, status=202) == {"replayed": 0}
        newest = await site.ask("GET", f"{place}/deliveries?limit=2")
        assert len(newest) == 2
        for limit in ("0", "201", "x"):
            refused = await site.ask("GET", f"{place}/deliveries?limit={limit}", status=400)
            assert refused["code"] == "invalid_param"


async def test_an_address_that_is_private_by_the_time_of_sending_fails_without_another_attempt(tmp_path: Path):
    async with open_receiver() as receiver:
        async with open_hooked(tmp_path) as site:
            hook = await standing(site, receiver)
        async with open_hooked(tmp_path, webhook_allow_cidrs=()) as site:
            over = await settled_after_a_call(site, hook)
    assert (over["status"], over["attempt_num"]) == ("failed", 1)
    assert over["last_error"].startswith("blocked_address")
    assert receiver.sent == []


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/",
        "https://10.1.2.3/",
        "https://169.254.169.254/latest/meta-data/",
        "https://[::ffff:10.0.0.1]/",
        "https://[::1]/",
        "https://2130706433/",
        "https://localhost/",
        "http://93.184.215.14/",
        "https://93.184.215.14:25/",
        "https://a:b@93.184.215.14/",
        "file:///etc/passwd",
    ],
)
async def test_an_address_that_may_not_be_told_is_refused_when_it_is_registered(url: str, tmp_path: Path):
    async with open_hooked(tmp_path, webhook_allow_cidrs=()) as site:
        error = await site.ask("POST", f"{site.base}/webhooks", {"url": url}, status=400)
        assert (error["code"], error["details"]["param"]) == ("invalid_param", "url")
        assert error["details"]["reason"] == "blocked_address"
        assert await site.ask("GET", f"{site.base}/webhooks") == []


async def test_what_is_no_registration_is_refused(tmp_path: Path):
    async with open_hooked(tmp_path) as site:
        place, good = f"{site.base}/webhooks", {"url": "https://93.184.215.14/"}
        bad: list[dict[str, Any]] = [
            {},
            {"url": ""},
            {**good, "secret": "x" * 15},
            {**good, "secret": "x" * 257},
            {**good, "events": []},
            {**good, "events": ["done"]},
            {**good, "tools": []},
            {**good, "token": "ä"},
            {**good, "colour": "red"},
        ]
        for body in bad:
            assert (await site.ask("POST", place, body, status=400))["code"] == "invalid_param"
        large = {**good, "secret": "x" * 70_000}
        assert (await site.ask("POST", place, large, status=413))["code"] == "payload_too_large"
        unknown = await site.ask("POST", f"{site.base}/tasks/call_0/webhooks", good, status=404)
        assert unknown["code"] == "task_not_found"
        assert (await site.ask("GET", place, key=site.agent_key, status=403))["code"] == "forbidden"


async def test_no_more_are_taken_than_a_caller_or_a_task_may_have(tmp_path: Path):
    async with open_hooked(tmp_path) as site:
        task_id = (await site.call("work"))["result"]["_meta"]["toolwire/task_id"]
        for place, most in ((f"{site.base}/webhooks", 50), (f"{site.base}/tasks/{task_id}/webhooks", 16)):
            for n in range(most):
                await site.ask("POST", place, {"url": f"https://93.184.215.14/{n}", "events": ["queued"]}, status=201)
            refused = await site.ask("POST", place, {"url": "https://93.184.215.14/more"}, status=409)
            assert refused["code"] == "conflict"
            await site.ask("POST", place, {"url": "https://93.184.215.14/0"}, status=201)
            assert len(await site.ask("GET", place)) == most


async def test_an_agent_takes_its_webhooks_with_it(tmp_path: Path):
    async with open_receiver() as receiver, open_hooked(tmp_path) as site:
        await standing(site, receiver)
        await site.ask("DELETE", site.base, status=204)
        await site.ask("GET", f"{site.base}/webhooks", status=404)
        await site.gateway.engine.recorder.caught_up()
        assert await site.gateway.engine.store.scan("standing_webhook", None) == []


async def test_secrets_do_not_lie_in_the_data_folder_in_clear(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver() as receiver:
        await standing(site, receiver, secret=SECRET, token="another-secret-token")
        await site.call("work", webhook={"url": receiver.url + "/2", "secret": SECRET})
        await receiver.next()
    async for file in anyio.Path(tmp_path).glob("toolwire.db*"):
        kept = await file.read_bytes()
        assert SECRET.encode() not in kept
        assert b"another-secret-token" not in kept


async def test_what_was_not_told_when_the_gateway_stopped_is_told_by_the_next(tmp_path: Path):
    async with open_receiver(*["hang"] * 5) as receiver:
        async with open_hooked(tmp_path) as site:
            told = [await site.call("work", webhook={"url": f"{receiver.url}/{n}"}) for n in range(20)]
            await receiver.next()
        receiver.answers.clear()
        expected = {one["result"]["_meta"]["toolwire/task_id"] for one in told}
        async with open_hooked(tmp_path) as site:
            heard: set[str] = set()
            while heard != expected:
                heard.add((await receiver.next()).json()["task_id"])
