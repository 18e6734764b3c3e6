"""What docs/how-to/webhooks.md shows takes real deliveries, and no others (gateway.md 33, D25, D27)."""

import time
from pathlib import Path

import httpx2
import pytest

from docs_src.webhooks import tutorial001, tutorial002
from tests.unit.gateway.hooked import SECRET, open_hooked, open_receiver


async def test_the_ten_lines_hold_a_delivery_for_genuine_and_nothing_else(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver() as receiver:
        await site.call("work", webhook={"url": receiver.url, "secret": SECRET})
        sent = await receiver.next()
    signature = sent.headers["x-toolwire-signature"]
    assert tutorial001.is_genuine(signature, sent.body, SECRET)
    assert tutorial001.is_genuine(sent.headers["x-beeos-signature"], sent.body, SECRET)
    assert not tutorial001.is_genuine(signature, sent.body + b" ", SECRET)
    assert not tutorial001.is_genuine(signature, sent.body, SECRET + "!")
    assert not tutorial001.is_genuine(signature, sent.body, SECRET, tolerance_s=-1)
    old = f"t={int(time.time()) - 301},{signature.partition(',')[2]}"
    assert not tutorial001.is_genuine(old, sent.body, SECRET)
    for broken in ("", "t=,v1=", "v1=x", "t=x,v1=y", signature.replace("v1", "v0")):
        assert not tutorial001.is_genuine(broken, sent.body, SECRET)


async def test_during_a_rotation_the_ten_lines_take_either_secret(tmp_path: Path):
    async with open_hooked(tmp_path) as site, open_receiver() as receiver:
        for secret in (SECRET, "the-secret-that-comes-after-it!!"):
            await site.ask("POST", f"{site.base}/webhooks", {"url": receiver.url, "secret": secret}, status=201)
        await site.call("work")
        sent = await receiver.next()
    for secret in (SECRET, "the-secret-that-comes-after-it!!"):
        assert tutorial001.is_genuine(sent.headers["x-toolwire-signature"], sent.body, secret)


async def test_the_receiver_takes_a_delivery_once_and_refuses_a_forged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("WEBHOOK_SECRET", SECRET)
    async with open_hooked(tmp_path) as site, open_receiver() as receiver:
        answer = await site.call("work", webhook={"url": receiver.url, "secret": SECRET})
        sent = await receiver.next()
    transport = httpx2.ASGITransport(tutorial002.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://receiver") as client:
        for _ in range(2):
            taken = await client.post("/hook", content=sent.body, headers=sent.headers)
            assert taken.status_code == 204
        forged = await client.post("/hook", content=sent.body.replace(b"completed", b"failed"), headers=sent.headers)
        assert forged.status_code == 401
    assert tutorial002.ended == [(answer["result"]["_meta"]["toolwire/task_id"], "completed")]
