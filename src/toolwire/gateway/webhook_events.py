"""Makes deliveries of what happens to calls, inside the transactions that make it so; it sends none.

The end of a call and what its webhooks are told of it are one commit: there is no moment in which a crash loses the one
without the other (gateway.md 37). The engine's `Witness`.
"""

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from toolwire.core.call import Call
from toolwire.core.event import Asks, Finished, Stamped
from toolwire.core.ids import new_id
from toolwire.core.ports import Clock, Enqueue, Op
from toolwire.engine.record import CallRecord, Record
from toolwire.engine.recorder import Recorder
from toolwire.gateway.task_states import task_status
from toolwire.gateway.webhook_record import Webhook, WebhookDelivery, new_delivery_id, webhook_that_came
from toolwire.gateway.webhook_shelf import WebhookShelf
from toolwire.wire.webhook import payload

QUEUE = "webhooks"
"""The queue of what is to be sent; an entry's id is the delivery's key, its body the delivery as it stands."""

QUEUED, RUNNING, INPUT_REQUIRED = "queued", "running", "input_required"


class KeepTerms(Struct, frozen=True):
    """For how long webhooks and deliveries are kept, in seconds.

    `call_s` is how long a call that somebody watches may go on, `attempts_s` how long attempts may take all in all, and
    `history_s` for how long one may look at them afterwards.
    """

    call_s: float = 600.0
    attempts_s: float = 60_000.0
    history_s: float = 86_400.0


class WebhookEvents:
    """Tells webhooks of calls.

    Args:
        shelf: all webhooks.
        recorder: writes behind what has no transaction of its own.
        clock: wall time.
        terms: how long what it writes is kept.

    Attributes:
        wake: called when there is something to send.
        wake_soon: called when there will be, as soon as it is committed.
    """

    def __init__(self, shelf: WebhookShelf, recorder: Recorder, clock: Clock, terms: KeepTerms) -> None:
        self._shelf = shelf
        self._recorder = recorder
        self._clock = clock
        self._terms = terms
        self.wake: Callable[[], None] = lambda: None
        self.wake_soon: Callable[[], None] = lambda: None
        self._ending: dict[str, bool] = {}
        self._heard: set[str] = set()

    def claim_ops(self, record: Record) -> Sequence[Op]:
        """See `engine.ending.Witness`: the webhook that came with the call, and that the call waits for its agent."""
        call = record.call
        ops: list[Op] = []
        webhooks = self._webhooks(call)
        if call.hook is not None:
            came = self._that_came(call)
            self._shelf.came(came)
            ops.append(came.put())
        ops += self._told(webhooks, call, QUEUED, record.created_at, 1)
        self.taken_up(record)
        if len(ops) > 1:
            self.wake_soon()
        return ops

    def taken_up(self, record: Record) -> None:
        """See `engine.ending.Witness`; that its agent has taken it before is told again, as the same event."""
        record.when_taken = self._tell_running
        if any(INPUT_REQUIRED in webhook.events for webhook in self._webhooks(record.call)):
            self.listen(record)

    def end_ops(self, ended: CallRecord) -> Sequence[Op]:
        """See `engine.ending.Witness`."""
        call = ended.call
        webhooks = self._webhooks(call)
        self._ending[call.id] = bool(webhooks)
        return self.end_ops_for(webhooks, ended) if webhooks else ()

    def ended(self, call: Call) -> None:
        """See `engine.ending.Witness`."""
        if self._ending.pop(call.id, False):
            self._shelf.is_over(call.id)
            self.wake()

    def is_ending(self, call_id: str) -> bool:
        """Whether the end of a call is being committed: a webhook that comes now is told of it apart from that."""
        return call_id in self._ending

    def end_ops_for(self, webhooks: Iterable[Webhook], ended: CallRecord) -> Sequence[Op]:
        """What tells webhooks of the end of a call."""
        at = ended.completed_at or self._clock.now()
        return self._told(webhooks, ended.call, task_status(ended), at, _place(ended.created_at, at))

    def listen(self, record: Record) -> None:
        """Tell the call's webhooks when its agent takes it and when it asks somebody; doing so twice is fine."""
        if record.started_at is None:
            record.when_taken = self._tell_running
        if record.call.id in self._heard:
            return
        self._heard.add(record.call.id)

        def hear(stamped: Stamped) -> None:
            if isinstance(stamped.event, Finished):
                self._heard.discard(record.call.id)
            elif isinstance(stamped.event, Asks):
                place = _place(record.created_at, stamped.at)
                ops = self._told(self._webhooks(record.call), record.call, INPUT_REQUIRED, stamped.at, place)
                self._recorder.add(lambda: ops)
                self.wake_soon()

        record.listen(hear)

    def _tell_running(self, record: Record) -> None:
        at = record.started_at or self._clock.now()
        ops = self._told(self._webhooks(record.call), record.call, RUNNING, at, 2)
        if ops:
            self._recorder.add(lambda: ops)
            self.wake_soon()

    def gone_at(self, call: Call) -> float:
        """When a webhook of a call is forgotten, Unix seconds."""
        now, terms = self._clock.now(), self._terms
        ends_by = max(call.deadline, now + terms.call_s) if call.task is None else call.task.kept_until
        return max(ends_by, now) + terms.attempts_s + terms.history_s

    def delivery_ops(self, delivery: WebhookDelivery) -> Sequence[Op]:
        """What has a new delivery sent at once."""
        return queued(delivery, self._clock.now())

    def delivery(
        self, webhook: Webhook, task_id: str, event: str, event_id: str, body: bytes, sorted_by: float = 0.0
    ) -> WebhookDelivery:
        """A new delivery; of several, one with a higher `sorted_by` is made later, in milliseconds."""
        now = self._clock.now()
        kept_until = now + self._terms.attempts_s + self._terms.history_s
        delivery_id = new_delivery_id(now + sorted_by / 1000)
        return WebhookDelivery(
            delivery_id, webhook.webhook_id, webhook.owner, task_id, event, event_id, body, now, kept_until,
            webhook.host, next_attempt_at=now,
        )  # fmt: skip

    def _webhooks(self, call: Call) -> Sequence[Webhook]:
        webhooks = self._shelf.hearing(call)
        if call.hook is None:
            return webhooks
        came = self._that_came(call)
        return webhooks if any(one.webhook_id == came.webhook_id for one in webhooks) else [*webhooks, came]

    def _that_came(self, call: Call) -> Webhook:
        assert call.hook is not None
        return webhook_that_came(call, call.hook, self._clock.now(), self.gone_at(call))

    def _told(self, webhooks: Iterable[Webhook], call: Call, status: str, at: float, sequence: int) -> Sequence[Op]:
        event_id, body, ops = "", b"", list[Op]()
        for webhook in webhooks:
            if status not in webhook.events:
                continue
            if not body:
                event_id = _running_id(call) if status == RUNNING else new_id("evt")
                subject = (call.id, call.context_id, call.agent_id, call.tool)
                body = payload(event_id, status, at, sequence, subject)
            ops += self.delivery_ops(self.delivery(webhook, call.id, status, event_id, body, min(sequence, 3)))
        return ops


def queued(delivery: WebhookDelivery, due: float) -> Sequence[Op]:
    """What has a delivery sent at a time, Unix seconds."""
    put = delivery.put()
    return (put, Enqueue(QUEUE, delivery.key, due, put.value))


def _running_id(call: Call) -> str:
    """The id of the one event that may be made twice: who was killed cannot know whether it is on its way."""
    return f"evt_{call.id.rpartition('_')[2]}"


def _place(began_at: float, at: float) -> int:
    """The place of an event in its task, behind `queued` (1) and `running` (2); it rises without being kept."""
    return 3 + max(0, int((at - began_at) * 1000))
