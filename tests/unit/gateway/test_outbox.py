"""How the outbox treats entries that cannot be sent as they lie there (gateway.md 37, D27); without a network.

What receivers meet is in test_webhook_faults.py.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

import anyio
import pytest
from msgspec.structs import replace

from tests.unit.gateway.world import ManualClock
from toolwire.adapters.memory import MemoryStore
from toolwire.core.call import Call, Caller
from toolwire.core.errors import StoreUnavailable
from toolwire.core.ports import Ack, Leased, Op
from toolwire.core.posting import Posted
from toolwire.engine.recorder import Recorder
from toolwire.gateway.outbox import Outbox, SendRules
from toolwire.gateway.webhook_events import QUEUE, KeepTerms, WebhookEvents
from toolwire.gateway.webhook_record import Webhook, WebhookDelivery
from toolwire.gateway.webhook_secrets import ROTATION_S, SecretBox, Secrets
from toolwire.gateway.webhook_shelf import WebhookShelf

pytestmark = pytest.mark.both_backends


class TellingPoster:
    """Answers what the test wants; every attempt is told."""

    def __init__(self) -> None:
        self.answer: Callable[[], Posted] = lambda: Posted(200)
        self.posted: list[Mapping[str, str]] = []
        self.asked = anyio.Event()

    async def check(self, url: str) -> str | None:
        return None

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Posted:
        self.posted.append(headers)
        self.asked.set()
        return self.answer()


class FailingStore(MemoryStore):
    """Does not write receipts, or gives no work, while it is told not to."""

    takes_acks = True
    gives_work = True

    async def tx(self, ops: Sequence[Op]) -> None:
        if not self.takes_acks and any(isinstance(op, Ack) for op in ops):
            raise StoreUnavailable("the disk is full")
        await super().tx(ops)

    async def claim(self, queue: str, worker: str, n: int, lease_s: float) -> Sequence[Leased]:
        if not self.gives_work:
            raise StoreUnavailable("the disk is gone")
        return await super().claim(queue, worker, n, lease_s)


class Bench:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = FailingStore(self.clock)
        self.recorder = Recorder(self.store)
        self.shelf = WebhookShelf(self.store)
        self.box = SecretBox(b"secret of the gateway")
        self.events = WebhookEvents(self.shelf, self.recorder, self.clock, KeepTerms())
        self.poster = TellingPoster()
        self.outbox = self.new_outbox(self.box)

    def new_outbox(self, box: SecretBox) -> Outbox:
        outbox = Outbox(
            self.store, self.recorder, self.shelf, box, self.poster, self.clock, SendRules(schedule_s=(60.0,)), 3600.0
        )
        self.events.wake = outbox.wake
        return outbox

    async def webhook(self, **changes: object) -> Webhook:
        sealed = self.box.seal(Secrets("a-secret-of-the-webhook"), "own_1")
        now = self.clock.now()
        webhook = Webhook("whs_1", "agent_1", "own_1", "own_1", "https://example.com/hook", sealed, True, now)
        webhook = replace(webhook, **changes)
        await self.store.tx([webhook.put()])
        self.shelf.keep(webhook)
        return webhook

    async def queue(self, webhook: Webhook) -> WebhookDelivery:
        delivery = self.events.delivery(webhook, "call_1", "completed", "evt_1", b"{}")
        await self.store.tx(self.events.delivery_ops(delivery))
        return delivery

    async def state(self, delivery: WebhookDelivery) -> tuple[str, str | None]:
        """The state and the error of a delivery, once it is over."""
        with anyio.fail_after(5):
            while True:
                found = await self.shelf.delivery("own_1", delivery.key)
                if found is None:
                    return "gone", None
                if found.status != "pending":
                    return found.status, found.last_error
                await anyio.lowlevel.checkpoint()

    @asynccontextmanager
    async def sending(self) -> AsyncGenerator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.recorder.write)
            tasks.start_soon(self.outbox.keep)
            yield
            tasks.cancel_scope.cancel()


async def test_what_a_deleted_webhook_was_to_be_told_is_dropped():
    bench = Bench()
    webhook = await bench.webhook()
    delivery = await bench.queue(webhook)
    await bench.shelf.remove(webhook)
    async with bench.sending():
        assert await bench.state(delivery) == ("gone", None)
        await anyio.wait_all_tasks_blocked()
    bench.clock.at += 3600
    assert await bench.store.claim(QUEUE, "test", 10, 60) == []
    assert bench.poster.posted == []


async def test_a_disabled_webhook_is_not_asked():
    bench = Bench()
    delivery = await bench.queue(await bench.webhook(disabled_at=1.0, disabled_reason="gone"))
    async with bench.sending():
        assert await bench.state(delivery) == ("failed", "the webhook is disabled; register it again")
    assert bench.poster.posted == []


async def test_nothing_is_sent_unsigned_because_the_gateways_secret_is_another():
    bench = Bench()
    delivery = await bench.queue(await bench.webhook())
    bench.outbox = bench.new_outbox(SecretBox(b"another secret"))
    async with bench.sending():
        assert await bench.state(delivery) == ("failed", "its secret cannot be read; register it again")
    assert bench.poster.posted == []


async def test_a_mistake_in_one_attempt_ends_no_other(caplog: pytest.LogCaptureFixture):
    bench = Bench()
    webhook = await bench.webhook()

    def mistake() -> Posted:
        raise ZeroDivisionError

    bench.poster.answer = mistake
    first = await bench.queue(webhook)
    async with bench.sending():
        with anyio.fail_after(5):
            await bench.poster.asked.wait()
        bench.poster.answer = lambda: Posted(200)
        second = await bench.queue(webhook)
        bench.events.wake()
        assert await bench.state(second) == ("succeeded", None)
    assert f"delivery {first.key} failed inside the server" in caplog.text


async def test_what_came_of_an_attempt_and_cannot_be_written_is_tried_again_when_its_lease_is_over():
    bench = Bench()
    delivery = await bench.queue(await bench.webhook())
    bench.poster.answer = lambda: Posted(410)
    bench.store.takes_acks = False
    async with bench.sending():
        with anyio.fail_after(5):
            await bench.poster.asked.wait()
        await anyio.wait_all_tasks_blocked()
        bench.store.takes_acks = True
        bench.clock.at += 60
        bench.events.wake()
        assert await bench.state(delivery) == ("failed", "HTTP status 410")
    assert len(bench.poster.posted) == 2


async def test_while_the_store_fails_nothing_is_sent_and_then_it_is(caplog: pytest.LogCaptureFixture):
    bench = Bench()
    delivery = await bench.queue(await bench.webhook())
    bench.store.gives_work = False
    async with bench.sending():
        await anyio.wait_all_tasks_blocked()
        bench.store.gives_work = True
        bench.events.wake()
        assert await bench.state(delivery) == ("succeeded", None)
    assert "cannot look for webhooks to send: the disk is gone" in caplog.text


async def test_the_old_secret_signs_for_a_day():
    bench = Bench()
    now = bench.clock.now()
    rotated = Secrets("old-secret-of-a-webhook").changed("new-secret-of-a-webhook", None, now)
    assert rotated.live(now + ROTATION_S - 1) == ["new-secret-of-a-webhook", "old-secret-of-a-webhook"]
    assert rotated.live(now + ROTATION_S) == ["new-secret-of-a-webhook"]
    assert rotated.changed("", "t", now).live(now) == rotated.live(now)
    assert Secrets().changed("first-secret-of-a-webhook", None, now).live(now) == ["first-secret-of-a-webhook"]
    assert bench.box.open(bench.box.seal(rotated, "own_1"), "own_2") is None
    assert bench.shelf.hearing(Call("call_1", Caller("k", "own_1", "gateway"), "work", {}, now)) == []
