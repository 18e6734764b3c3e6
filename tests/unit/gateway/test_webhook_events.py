"""What the engine's transactions tell webhooks, without a gateway around it (gateway.md 36, 37, D24, D27)."""

from typing import Any

import pytest

from tests.unit.gateway.world import ManualClock
from toolwire.adapters.memory import MemoryStore
from toolwire.core.asking import Question
from toolwire.core.call import Call, Caller, Hook
from toolwire.core.event import Asks
from toolwire.core.result import failed, text_result
from toolwire.engine.record import CallRecord, Record, status_of
from toolwire.engine.recorder import Recorder
from toolwire.gateway.webhook_events import QUEUE, KeepTerms, WebhookEvents
from toolwire.gateway.webhook_record import WebhookDelivery, delivery_of
from toolwire.gateway.webhook_shelf import WebhookShelf
from toolwire.wire.rest import rfc3339

pytestmark = pytest.mark.both_backends


class Bench:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = MemoryStore(self.clock)
        self.recorder = Recorder(self.store)
        self.shelf = WebhookShelf(self.store)
        self.events = WebhookEvents(self.shelf, self.recorder, self.clock, KeepTerms())

    def call(self, *events: str) -> Call:
        hook = Hook("https://example.com/hook", "", False, events)
        caller = Caller("key_1", "own_1", "gateway")
        return Call("call_1", caller, "work", {}, self.clock.now() + 60, "agent_1", watched=True, hook=hook)

    async def queued(self) -> list[WebhookDelivery]:
        """What is to be sent now, by the order of the events."""
        found: list[WebhookDelivery] = []
        for entry in await self.store.claim(QUEUE, "test", 100, 60):
            row = await self.store.get("webhook_delivery", "own_1", entry.id)
            assert row is not None
            assert delivery_of(row) == delivery_of(entry)
            found.append(delivery_of(row))
        return sorted(found, key=lambda one: one.delivery_id, reverse=True)

    def ended(self, call: Call, result: Any) -> CallRecord:
        began = self.clock.now()
        self.clock.at += 1.5
        return CallRecord(call, status_of(result), began, self.clock.now(), result)


async def test_the_webhook_that_came_with_a_call_is_kept_with_its_claim():
    bench = Bench()
    record = Record(bench.call(), bench.clock)
    await bench.store.tx(bench.events.claim_ops(record))
    (kept,) = await bench.shelf.of_task("own_1", "call_1")
    assert (kept.url, kept.principal, kept.task_id) == ("https://example.com/hook", "key_1", "call_1")
    assert kept.expires_at is not None
    assert kept.expires_at > bench.clock.now() + 86_400
    assert await bench.queued() == []


async def test_a_question_is_told_as_input_required_behind_the_beginning_and_before_the_end():
    bench = Bench()
    record = Record(bench.call("running", "input_required", "completed"), bench.clock)
    await bench.store.tx(bench.events.claim_ops(record))
    record.taken()
    bench.clock.at += 1
    record.emit(Asks((Question("q", "elicitation/create", {"message": "may I?"}),)))
    await bench.recorder.flush()
    await bench.store.tx(bench.events.end_ops(bench.ended(record.call, text_result("done"))))
    record.finish(text_result("done"))
    assert [one.event for one in await bench.queued()] == ["running", "input_required", "completed"]


async def test_running_is_told_when_somebody_takes_the_call_and_once():
    bench = Bench()
    record = Record(bench.call("queued", "running"), bench.clock)
    await bench.store.tx(bench.events.claim_ops(record))
    assert [one.event for one in await bench.queued()] == ["queued"]
    bench.clock.at += 3
    for _ in range(2):
        record.taken()
        await bench.recorder.flush()
    (told,) = await bench.queued()
    assert told.event == "running"
    assert f'"timestamp":"{rfc3339(bench.clock.now())}"'.encode() in told.body


async def test_a_call_that_nobody_has_taken_was_never_running():
    bench = Bench()
    record = Record(bench.call("running", "canceled"), bench.clock)
    await bench.store.tx(bench.events.claim_ops(record))
    await bench.store.tx(bench.events.end_ops(bench.ended(record.call, failed("no", "cancelled"))))
    record.finish(failed("no", "cancelled"))
    record.taken()
    await bench.recorder.flush()
    assert [one.event for one in await bench.queued()] == ["canceled"]


async def test_what_was_taken_before_a_restart_is_told_again_as_the_same_event():
    """gateway.md D27: at least once, and receivers know it by its id."""
    bench = Bench()
    call = bench.call("running")
    taken_at = bench.clock.now() + 1
    for begin in (bench.events.claim_ops, bench.events.taken_up):
        record = Record(call, bench.clock)
        begin(record)
        record.taken(taken_at)
        await bench.recorder.flush()
    first, again = await bench.queued()
    assert (first.event_id, first.body) == (again.event_id, again.body)


async def test_a_call_that_goes_on_after_a_restart_is_told_of_when_it_asks():
    bench = Bench()
    record = Record(bench.call(), bench.clock)
    bench.events.taken_up(record)
    record.emit(Asks((Question("q", "elicitation/create", {"message": "may I?"}),)))
    await bench.recorder.flush()
    assert [one.event for one in await bench.queued()] == ["input_required"]


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("service_timeout", "timeout"),
        ("cancelled", "canceled"),
        ("agent_busy", "rejected"),
        ("agent_lost", "failed"),
        ("tool_failed", "failed"),
    ],
)
async def test_an_end_is_told_by_the_status_that_its_task_has(code: str, status: str):
    bench = Bench()
    await bench.store.tx(bench.events.end_ops(bench.ended(bench.call(), failed("no", code))))
    (told,) = await bench.queued()
    assert told.event == status
    assert f'"status":"{status}","final":true'.encode() in told.body


async def test_an_end_that_could_not_be_committed_is_told_once_it_is():
    bench = Bench()
    ended = bench.ended(bench.call(), text_result("done"))
    bench.events.end_ops(ended)
    assert bench.events.is_ending("call_1")
    await bench.store.tx(bench.events.end_ops(ended))
    woken: list[str] = []
    bench.events.wake = lambda: woken.append("awake")
    bench.events.ended(ended.call)
    bench.events.ended(ended.call)
    assert not bench.events.is_ending("call_1")
    assert woken == ["awake"]
    assert len(await bench.queued()) == 1
