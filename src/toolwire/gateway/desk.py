"""Who is attached for one agent, and which message goes to whom; it sends, stores and authenticates nothing.

Links are sent what there is as soon as it is there; pollers fetch it. A message goes to a link first, the one with the
fewest messages in flight. Delivery modes (gateway.md 53): `push` delivers everything at once, `queue` one message a
channel at a time, `busy_reject` takes one call at a time and refuses the next.
"""

from collections import deque
from collections.abc import Callable, Collection
from functools import partial
from typing import Protocol

import anyio
from msgspec import Struct

from toolwire.core.errors import AgentBusy, AgentLost, AgentOffline
from toolwire.engine.deadline import Timekeeper, Timer
from toolwire.gateway.delivery import Delivery, Taker
from toolwire.wire.link import DeliveryMode, Message


class Rules(Struct, frozen=True):
    """How long an agent may be silent, all in seconds (gateway.md 1J and §6).

    `delivery_lease_s` is for how long a message waits for a taker that is gone, and how long a poller holds one without
    renewing it. `offline_after_s` is for how long a poller counts as there after it was last heard of. `reattach_s` is
    how long calls wait after a restart for an agent that was attached before.
    """

    delivery_lease_s: float = 30.0
    offline_after_s: float = 45.0
    reattach_s: float = 5.0


class PushTaker(Taker, Protocol):
    """A link: it is sent messages without asking."""

    draining: bool

    def deliver(self, delivery: Delivery) -> None:
        """Send a message; must not block or raise."""
        ...

    def supersede(self) -> None:
        """Another link speaks for the same journal now: end this one."""
        ...


class Poller:
    """Somebody who fetches messages over HTTP; `heard_at` is of the event loop's clock, in seconds."""

    __slots__ = ("_reading", "_wake", "heard_at", "in_flight", "journal", "told")

    def __init__(self, journal: str) -> None:
        self.journal = journal
        self.heard_at = anyio.current_time()
        self.in_flight = 0
        self.told: list[Message] = []
        self._reading = 0
        self._wake: anyio.Event | None = None

    @property
    def reading(self) -> bool:
        """Whether it waits for messages at this moment."""
        return self._reading > 0

    def tell(self, message: Message) -> None:
        """Keep what is said about a message for the next read."""
        self.told.append(message)
        self.poke()

    def poke(self) -> None:
        """There may be something to fetch."""
        if self._wake is not None:
            self._wake.set()
            self._wake = None

    async def wait(self, deadline: float) -> None:
        """Wait until there may be something to fetch, at most to `deadline` of the event loop's clock."""
        if self._wake is None:
            self._wake = anyio.Event()
        self._reading += 1
        try:
            with anyio.CancelScope(deadline=deadline):
                await self._wake.wait()
        finally:
            self._reading -= 1
            self.heard_at = anyio.current_time()


class Desk:
    """The desk of one agent.

    Args:
        agent_id: whose desk it is.
        mode_of: the agent's delivery mode now.
        rules: how long what may take.
        timekeeper: for leases.
        send: sends a message to a link, when it may be sent.
    """

    def __init__(
        self,
        agent_id: str,
        mode_of: Callable[[str], DeliveryMode],
        rules: Rules,
        timekeeper: Timekeeper,
        send: Callable[[Delivery, PushTaker], None],
    ) -> None:
        self.agent_id = agent_id
        self._mode_of = mode_of
        self._rules = rules
        self._timekeeper = timekeeper
        self._send = send
        self.links: list[PushTaker] = []
        self.pollers: dict[str, Poller] = {}
        self.open: dict[str, Delivery] = {}
        self.expected_until = float("-inf")
        self._waiting: deque[Delivery] = deque()
        self._orphans: dict[str, Delivery] = {}
        self._lines: dict[str, deque[Delivery]] = {}
        self._giving_up: Timer | None = None

    @property
    def online(self) -> bool:
        """Whether somebody is there who takes messages."""
        for link in self.links:
            if not link.draining:
                return True
        return bool(self.pollers) and self._polled()

    def admit(self) -> None:
        """Let a new call come.

        Raises:
            AgentOffline: nobody is attached, and nobody is expected back from before a restart.
            AgentBusy: the agent takes one call at a time and has one.
        """
        if not self.online and anyio.current_time() >= self.expected_until:
            raise AgentOffline(f"agent {self.agent_id!r} is not attached; start it and call again")
        if self.open:
            self._check_free(self._mode_of(self.agent_id))

    def pick(self, delivery: Delivery) -> PushTaker | None:
        """The link that a message would go to now."""
        links = [link for link in self.links if not link.draining]
        if delivery.taken_by is not None:
            same = [link for link in links if link.journal == delivery.taken_by]
            links = same or (links if delivery.repeatable else [])
        if len(links) > 1:
            return min(links, key=lambda link: link.in_flight)
        return links[0] if links else None

    def offer(self, delivery: Delivery) -> None:
        """`submit` a message that is new: since it was admitted, perhaps another one was, too.

        Raises:
            AgentBusy: the agent takes one call at a time and has one.
        """
        mode = self._mode_of(self.agent_id)
        self._check_free(mode)
        self._submit(delivery, mode)

    def submit(self, delivery: Delivery) -> None:
        """Deliver a message when its turn comes."""
        self._submit(delivery, self._mode_of(self.agent_id))

    def submit_taken(self, delivery: Delivery) -> None:
        """Wait for the taker of a message that was sent before a restart."""
        self.open[delivery.id] = delivery
        delivery.on_settled = self._settled
        if self._mode_of(self.agent_id) == "queue":
            self._lines.setdefault(delivery.message.channel_id, deque())
        self._orphan(delivery)

    def withdraw(self, delivery: Delivery) -> None:
        """Nobody waits for the answer any more."""
        if self.open.get(delivery.id) is delivery:
            delivery.stop_lease()
            self._settled(delivery)

    def attach(self, link: PushTaker, running: Collection[str]) -> list[str]:
        """A link is there.

        Args:
            link: where messages go from now on.
            running: the ids of the messages that its journal holds; these need not be sent again.

        Returns:
            Those of `running` that nobody here waits for.
        """
        for other in [other for other in self.links if other.journal == link.journal]:
            self.detach(other)
            other.supersede()
        self.links.append(link)
        self.expected_until = float("-inf")
        held = frozenset(running)
        for delivery in [d for d in self._orphans.values() if d.taken_by == link.journal]:
            if delivery.id in held:
                self.hold(delivery, link)
            else:
                self._place(delivery)
        for delivery in [d for d in self._waiting if d.taken_by == link.journal and d.id in held]:
            self._waiting.remove(delivery)
            self.hold(delivery, link)
        self._place_waiting()
        return [message_id for message_id in running if message_id not in self.open]

    def detach(self, link: PushTaker) -> None:
        """A link is gone, without having answered what it holds."""
        if link not in self.links:
            return
        self.links.remove(link)
        for delivery in [d for d in self.open.values() if d.taker is link]:
            self.release(delivery)
            self.lose(delivery)
        if self._waiting and not self.online:
            self._give_up_later()

    def poller(self, journal: str) -> Poller:
        """The poller that speaks for a journal; it has just been heard of."""
        poller = self.pollers.get(journal)
        if poller is None:
            poller = self.pollers[journal] = Poller(journal)
        poller.heard_at = anyio.current_time()
        self.expected_until = float("-inf")
        return poller

    def fetch(self, poller: Poller, limit: int) -> list[Delivery]:
        """Messages for a poller, at most `limit`; it holds them until its lease ends."""
        found = [d for d in self._orphans.values() if d.taken_by == poller.journal][:limit]
        if len(found) < limit and self._waiting:
            kept: deque[Delivery] = deque()
            while self._waiting:
                delivery = self._waiting.popleft()
                fits = delivery.taken_by in (None, poller.journal) or delivery.repeatable
                (found if fits and len(found) < limit else kept).append(delivery)
            self._waiting = kept
        for delivery in found:
            self.hold(delivery, poller)
            self.lease(delivery)
        return found

    def hold(self, delivery: Delivery, taker: Taker) -> None:
        """`taker` has the message now."""
        delivery.stop_lease()
        self._orphans.pop(delivery.id, None)
        delivery.held_by(taker)

    def release(self, delivery: Delivery) -> None:
        """Its taker has the message no longer."""
        if delivery.taker is not None:
            delivery.taker.in_flight -= 1
            delivery.taker = None

    def lease(self, delivery: Delivery) -> None:
        """Give a poller its time for a message, from now on."""
        delivery.stop_lease()
        delivery.lease = self._timekeeper.after(self._rules.delivery_lease_s, partial(self._lapse, delivery))

    def lose(self, delivery: Delivery) -> None:
        """Its taker is gone: wait for the same journal, or go to anybody if that does no harm."""
        if delivery.repeatable:
            self._place(delivery)
        else:
            self._orphan(delivery)

    def give_back(self, delivery: Delivery) -> None:
        """Its taker says that it has not begun: it may go to anybody."""
        self.release(delivery)
        delivery.stop_lease()
        delivery.taken_by = None
        self._place(delivery)

    def _check_free(self, mode: DeliveryMode) -> None:
        if mode == "busy_reject" and self.open:
            raise AgentBusy(f"agent {self.agent_id!r} takes one call at a time and has one; call again later")

    def _submit(self, delivery: Delivery, mode: DeliveryMode) -> None:
        self.open[delivery.id] = delivery
        delivery.on_settled = self._settled
        if mode == "queue":
            line = self._lines.get(delivery.message.channel_id)
            if line is not None:
                line.append(delivery)
                delivery.waits()
                return
            self._lines[delivery.message.channel_id] = deque()
        self._place(delivery)

    def _place(self, delivery: Delivery) -> None:
        link = self.pick(delivery)
        if link is not None:
            self.hold(delivery, link)
            self._send(delivery, link)
            return
        self._orphans.pop(delivery.id, None)
        delivery.stop_lease()
        self._waiting.append(delivery)
        delivery.waits()
        for poller in self.pollers.values():
            poller.poke()
        if not self.online:
            self._give_up_later()

    def _place_waiting(self) -> None:
        waiting, self._waiting = self._waiting, deque()
        for delivery in waiting:
            self._place(delivery)

    def _orphan(self, delivery: Delivery) -> None:
        self._orphans[delivery.id] = delivery
        delivery.stop_lease()
        delivery.lease = self._timekeeper.after(self._rules.delivery_lease_s, partial(self._lost, delivery))
        poller = self.pollers.get(delivery.taken_by or "")
        if poller is not None:
            poller.poke()

    def _lapse(self, delivery: Delivery) -> None:
        self.release(delivery)
        self.lose(delivery)

    def _lost(self, delivery: Delivery) -> None:
        if delivery.repeatable:
            self._place(delivery)
            return
        delivery.fail(AgentLost(f"agent {self.agent_id!r} took the call and is gone; whether it was done is not known"))

    def _settled(self, delivery: Delivery) -> None:
        self.open.pop(delivery.id, None)
        self._orphans.pop(delivery.id, None)
        if delivery.taker is not None:
            self.release(delivery)
        elif delivery in self._waiting:
            self._waiting.remove(delivery)
        if self._lines:
            self._next_in_line(delivery)

    def _next_in_line(self, delivery: Delivery) -> None:
        line = self._lines.get(delivery.message.channel_id)
        if line is None:
            return
        if delivery in line:
            line.remove(delivery)
        elif line:
            self._place(line.popleft())
        else:
            del self._lines[delivery.message.channel_id]

    def _polled(self) -> bool:
        since = anyio.current_time() - self._rules.offline_after_s
        stale = [p.journal for p in self.pollers.values() if p.heard_at < since and not p.reading]
        for journal in stale:
            del self.pollers[journal]
        return bool(self.pollers)

    def _give_up_later(self) -> None:
        if self._giving_up is None or self._giving_up.callback is None:
            left = self.expected_until - anyio.current_time()
            self._giving_up = self._timekeeper.after(
                left if left > 0 else self._rules.delivery_lease_s, self._give_up_waiting
            )

    def _give_up_waiting(self) -> None:
        if self.online:
            return
        for delivery in [d for d in self._waiting if d.call_id is not None]:
            delivery.fail(AgentOffline(f"agent {self.agent_id!r} did not attach in time; start it and call again"))
