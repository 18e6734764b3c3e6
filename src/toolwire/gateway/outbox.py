"""Sends what webhooks are to be told: signs, retries by the schedule, gives up; it makes no deliveries.

What is to be sent lies on a queue of the store. An entry is leased for one attempt, so that a gateway that dies in the
middle of it leaves it to the next one: everything is sent at least once (gateway.md 35, 37, D27).
"""

import logging
import random
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import anyio
from anyio.abc import TaskGroup
from msgspec import Struct
from msgspec.structs import replace

from toolwire.core.errors import StoreUnavailable, ToolwireError
from toolwire.core.ids import new_id
from toolwire.core.ports import Ack, Clock, Del, Leased, Nack, Op, Store
from toolwire.core.posting import Posted, Poster
from toolwire.engine.recorder import Recorder
from toolwire.gateway.webhook_events import QUEUE, queued
from toolwire.gateway.webhook_record import DELIVERY, Webhook, WebhookDelivery, delivery_of, shortened_error
from toolwire.gateway.webhook_secrets import SecretBox
from toolwire.gateway.webhook_shelf import WebhookShelf
from toolwire.wire.webhook import COMPAT_BEEOS, headers_of

logger = logging.getLogger("toolwire.webhooks")

SCHEDULE_S = (60.0, 300.0, 1800.0, 7200.0, 43_200.0)
JITTER = 0.1
GONE = 410
DISABLE_AFTER = 10
"""Deliveries in a row that were given up; then nothing more is sent until the webhook is registered anew."""
MAX_RETRY_AFTER_S = 24 * 3600.0
LEASE_SPARE_S = 5.0
LOOK_EVERY_S = 5.0
"""How often the queue is looked at without a reason: for what others have put there."""
LOOK_AT_FIRST_S = 0.5
"""The same while the leases of a gateway that was killed before this one may come to their ends."""
SOON_S = 0.05
MAX_SILENT = 10_000
"""Hosts that are remembered to have given no answer."""
CLAIMED_AHEAD = 4
"""How many entries are claimed at once for each attempt that may run at once."""


class SendRules(Struct, frozen=True):
    """How deliveries are sent.

    `timeout_s` is of one attempt, `schedule_s` the waits behind failed ones, `parallel` how many attempts run at once.
    `compat` names the sets of headers under others' names.
    """

    timeout_s: float = 10.0
    schedule_s: tuple[float, ...] = SCHEDULE_S
    parallel: int = 5
    compat: tuple[str, ...] = (COMPAT_BEEOS,)


class _Ready(NamedTuple):
    """An entry that this outbox has a lease on, and the delivery in it."""

    entry: Leased
    delivery: WebhookDelivery


class Outbox:
    """Sends deliveries while `keep` runs.

    Args:
        store: has the queue.
        recorder: writes behind what was received.
        shelf: finds webhooks and deliveries.
        box: opens their secrets.
        poster: makes attempts.
        clock: wall time.
        rules: when and how often.
        history_s: for how long a delivery that is over can be looked at.
    """

    def __init__(
        self,
        store: Store,
        recorder: Recorder,
        shelf: WebhookShelf,
        box: SecretBox,
        poster: Poster,
        clock: Clock,
        rules: SendRules,
        history_s: float,
    ) -> None:
        self._store = store
        self._recorder = recorder
        self._shelf = shelf
        self._box = box
        self._poster = poster
        self._clock = clock
        self._rules = rules
        self._history_s = history_s
        self._worker = new_id("outbox")
        self._news = anyio.Event()
        self._due: list[float] = []
        self._at_first_until = 0.0
        self._running: dict[str, _Ready] = {}
        self._silent: set[str] = set()

    def wake(self) -> None:
        """There is something to send."""
        self._news.set()

    def wake_soon(self) -> None:
        """There will be something to send in a moment."""
        self._due.append(self._clock.now() + SOON_S)
        self._news.set()

    async def keep(self) -> None:
        """Send until cancelled; what is under way then is sent again by whoever comes after."""
        ready: deque[_Ready] = deque()
        self._at_first_until = self._clock.now() + self._lease_s + LOOK_EVERY_S
        try:
            async with anyio.create_task_group() as attempts:
                while True:
                    self._news = anyio.Event()
                    await self._put_off(self._start(ready, attempts))
                    if len(self._running) >= self._rules.parallel:
                        await self._news.wait()
                    elif not ready and not await self._fill(ready):
                        await self._idle()
        finally:
            await self._give_back([*ready, *self._running.values()])

    def _start(self, ready: deque[_Ready], attempts: TaskGroup) -> Sequence[_Ready]:
        """Start what may be; those that must wait for another, because their receiver's host is silent."""
        waiting: list[_Ready] = []
        while ready and len(self._running) < self._rules.parallel:
            one = ready.popleft()
            if one.entry.lease_until - self._rules.timeout_s < self._clock.now():
                continue  # it waited for too long here; it comes again when its lease is over
            host = one.delivery.host
            if host in self._silent and any(other.delivery.host == host for other in self._running.values()):
                waiting.append(one)
                continue
            self._running[one.entry.id] = one
            attempts.start_soon(self._attempt, one)
        return waiting

    async def _put_off(self, waiting: Sequence[_Ready]) -> None:
        """Look at these again when the attempt that asks their host is over: one that hangs must not take all places.

        It is no attempt of theirs.
        """
        if waiting:
            due = self._clock.now() + self._rules.timeout_s
            self._due.append(due)
            with suppress(StoreUnavailable):  # their leases end, too
                await self._store.tx([Nack(QUEUE, one.entry.id, due) for one in waiting])

    async def _give_back(self, left: Sequence[_Ready]) -> None:
        """Have what was claimed and not settled sent by the next gateway at once, not when the leases are over."""
        now = self._clock.now()
        with anyio.CancelScope(shield=True), suppress(StoreUnavailable):
            await self._store.tx([Nack(QUEUE, one.entry.id, now) for one in left])

    async def _fill(self, ready: deque[_Ready]) -> bool:
        try:
            entries = await self._store.claim(QUEUE, self._worker, self._rules.parallel * CLAIMED_AHEAD, self._lease_s)
            ready += [_Ready(entry, delivery_of(entry)) for entry in entries]
        except StoreUnavailable as error:
            logger.warning("cannot look for webhooks to send: %s", error.message)
        return bool(ready)

    @property
    def _lease_s(self) -> float:
        return self._rules.timeout_s + LEASE_SPARE_S

    async def _idle(self) -> None:
        now = self._clock.now()
        self._due = [due for due in self._due if due > now]
        look_s = LOOK_AT_FIRST_S if now < self._at_first_until else LOOK_EVERY_S
        wait_s = min([look_s, *(due - now for due in self._due)])
        with anyio.move_on_after(wait_s):
            await self._news.wait()

    async def _attempt(self, one: _Ready) -> None:
        try:
            await self._send(one.entry, one.delivery)
        except ToolwireError as error:
            logger.warning("cannot note what came of a webhook: %s; it is sent again", error.message)
        except Exception:  # an attempt's outermost frame: one delivery must not end the group of all
            logger.exception("delivery %s failed inside the server", one.entry.id)
        del self._running[one.entry.id]
        self._news.set()

    async def _send(self, entry: Leased, delivery: WebhookDelivery) -> None:
        owner = delivery.owner
        webhook = await self._shelf.find(owner, delivery.webhook_id)
        if webhook is None:
            await self._store.tx([Ack(QUEUE, entry.id), Del(DELIVERY, owner, entry.id)])
            return
        if webhook.disabled_at is not None:
            await self._store.tx(self._over(delivery, "failed", "the webhook is disabled; register it again"))
            return
        secrets = self._box.open(webhook.sealed, owner)
        if secrets is None:
            await self._store.tx(self._over(delivery, "failed", "its secret cannot be read; register it again"))
            return
        now = self._clock.now()
        headers = headers_of(
            delivery.event_id,
            delivery.task_id,
            int(now),
            delivery.body,
            secrets.live(now),
            secrets.token,
            self._rules.compat,
        )
        posted = await self._poster.post(webhook.url, headers, delivery.body)
        tried = replace(
            delivery,
            attempt_num=delivery.attempt_num + 1,
            last_attempted_at=now,
            last_response_status=posted.status,
            last_error=None if posted.received else shortened_error(posted.error or f"HTTP status {posted.status}"),
        )
        await self._settle(webhook, tried, posted)

    async def _settle(self, webhook: Webhook, tried: WebhookDelivery, posted: Posted) -> None:
        """Write down what came of an attempt."""
        if posted.status is None and not posted.blocked and len(self._silent) < MAX_SILENT:
            self._silent.add(tried.host)
        else:
            self._silent.discard(tried.host)
        if posted.received:
            over = self._over(tried, "succeeded", None)
            self._recorder.add(lambda: over)  # lost in a crash it is told again, which receivers must take anyway
            if webhook.failures:
                await self._count_anew(webhook)
        elif posted.blocked:
            await self._give_up(webhook, tried, "failed")
        elif posted.status == GONE:
            await self._give_up(webhook, tried, "failed", "the receiver answered 410 Gone")
        elif tried.attempt_num > len(self._rules.schedule_s):
            await self._give_up(webhook, tried, "dead_letter")
        else:
            due = self._next(tried, posted)
            self._due.append(due)
            kept_until = max(tried.expires_at, due + self._history_s)
            later = replace(tried, next_attempt_at=due, expires_at=kept_until)
            await self._store.tx(queued(later, due))

    def _next(self, tried: WebhookDelivery, posted: Posted) -> float:
        wait_s = self._rules.schedule_s[tried.attempt_num - 1] * random.uniform(1 - JITTER, 1 + JITTER)
        return self._clock.now() + max(wait_s, min(posted.retry_after_s or 0.0, MAX_RETRY_AFTER_S))

    def _over(self, delivery: WebhookDelivery, status: str, error: str | None) -> Sequence[Op]:
        now = self._clock.now()
        over = replace(
            delivery,
            status=status,
            last_error=error,
            next_attempt_at=None,
            completed_at=now,
            expires_at=now + self._history_s,
        )
        return (over.put(), Ack(QUEUE, delivery.key))

    async def _give_up(
        self, webhook: Webhook, tried: WebhookDelivery, status: str, disabling: str | None = None
    ) -> None:
        """A delivery is over without having been received; what that makes of its webhook is written with it."""
        ops = self._over(tried, status, tried.last_error)
        async with self._shelf.changing:
            current = await self._shelf.find(webhook.owner, webhook.webhook_id)
            if current is None:
                await self._store.tx(ops)
                return
            changed = replace(current, failures=current.failures + 1)
            if disabling is None and changed.failures >= DISABLE_AFTER:
                disabling = f"{changed.failures} deliveries in a row were given up"
            if disabling is not None:
                logger.warning("webhook %s is disabled: %s", webhook.webhook_id, disabling)
                changed = replace(changed, disabled_at=self._clock.now(), disabled_reason=disabling)
            await self._store.tx([*ops, changed.put()])
            self._shelf.replace(changed)

    async def _count_anew(self, webhook: Webhook) -> None:
        """It has heard something, so that its failures count anew."""
        async with self._shelf.changing:
            current = await self._shelf.find(webhook.owner, webhook.webhook_id)
            if current is not None:
                changed = replace(current, failures=0)
                await self._store.tx([changed.put()])
                self._shelf.replace(changed)
