"""Messages for agents that fetch them over HTTP; it does not speak HTTP.

Whoever reads holds what it got for a lease, renews it while it works, publishes the reply, and acknowledges. Reading
and renewing are its heartbeat. Spec: gateway.md §3 and §6, Agents.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import anyio
from msgspec import Struct

from toolwire.core.errors import AgentLost
from toolwire.core.ports import Clock
from toolwire.gateway.delivery import MAX_NACKS, Delivery, delivery_id_of
from toolwire.gateway.desk import Desk, Poller
from toolwire.gateway.presence import Presence
from toolwire.wire.link import Message

MAX_READ: Final = 100
MAX_BLOCK_S: Final = 30.0
"""The longest a read waits: below the time after which a silent poller counts as gone."""


class Fetched(Struct, frozen=True):
    """A message for its agent; `lease_until` is Unix seconds, UTC. Only a `chat_message` needs acknowledgement."""

    delivery_id: str
    lease_until: float
    redelivered: bool
    message: Message


class Deliveries:
    """Reads, acknowledges, gives back and renews.

    A journal is named by the reader; one that names none goes by its key's id.

    Args:
        presence: finds the agent's desk.
        clock: wall time.
    """

    def __init__(self, presence: Presence, clock: Clock) -> None:
        self._presence = presence
        self._clock = clock

    async def read(self, agent_id: str, journal: str, limit: int, block_s: float) -> Sequence[Fetched]:
        """At most `limit` messages; when there is none, wait up to `block_s` seconds for one.

        Raises:
            StoreUnavailable: it could not be recorded who takes them; nobody has taken them.

        Cancellation: nothing is taken.
        """
        desk = self._presence.desk(agent_id)
        if not desk.online:
            self._presence.note_attached(agent_id)
        poller = desk.poller(journal)
        until = anyio.current_time() + min(block_s, MAX_BLOCK_S)
        while True:
            found = desk.fetch(poller, max(1, min(limit, MAX_READ)))
            told, poller.told = poller.told, []
            if found or told or anyio.current_time() >= until:
                break
            await poller.wait(until)
        await self._record(desk, found, journal)
        lease_until = self._clock.now() + self._presence.rules.delivery_lease_s
        return [
            *(Fetched(message.message_id, lease_until, False, message) for message in told),
            *(Fetched(delivery_id_of(d), lease_until, d.attempts > 1, d.message) for d in found),
        ]

    def ack(self, agent_id: str, journal: str, delivery_ids: Iterable[str]) -> Sequence[str]:
        """The replies are published, or will be without a lease; those that nobody else has.

        Acknowledging what is answered already changes nothing.
        """
        desk, poller = self._heard(agent_id, journal)
        done: list[str] = []
        for delivery_id in delivery_ids:
            delivery = desk.open.get(_message_id(delivery_id))
            if delivery is None:
                done.append(delivery_id)
            elif _holds(poller, delivery, delivery_id):
                delivery.stop_lease()
                done.append(delivery_id)
        return done

    def nack(self, agent_id: str, journal: str, delivery_ids: Iterable[str]) -> Sequence[str]:
        """Give back what was not begun: it is delivered again at once, three times at most; those that were held."""
        desk, poller = self._heard(agent_id, journal)
        held = list(_held(desk, poller, delivery_ids))
        for _, delivery in held:
            delivery.nacks += 1
            if delivery.nacks > MAX_NACKS:
                delivery.fail(AgentLost(f"agent {agent_id!r} gave the message back {delivery.nacks} times"))
            else:
                desk.give_back(delivery)
        return [delivery_id for delivery_id, _ in held]

    def renew(self, agent_id: str, journal: str, delivery_ids: Iterable[str]) -> Sequence[tuple[str, float]]:
        """Hold on to what is being worked on: those still held, each with the new end of its lease."""
        desk, poller = self._heard(agent_id, journal)
        held = list(_held(desk, poller, delivery_ids))
        for _, delivery in held:
            desk.lease(delivery)
        lease_until = self._clock.now() + self._presence.rules.delivery_lease_s
        return [(delivery_id, lease_until) for delivery_id, _ in held]

    def _heard(self, agent_id: str, journal: str) -> tuple[Desk, Poller]:
        desk = self._presence.desk(agent_id)
        return desk, desk.poller(journal)

    async def _record(self, desk: Desk, found: Sequence[Delivery], journal: str) -> None:
        recorded = False
        try:
            await self._presence.record_taken(found, journal)
            recorded = True
        finally:
            if not recorded:
                for delivery in found:
                    if not delivery.settled:
                        desk.give_back(delivery)


def _held(desk: Desk, poller: Poller, delivery_ids: Iterable[str]) -> Iterable[tuple[str, Delivery]]:
    for delivery_id in delivery_ids:
        delivery = desk.open.get(_message_id(delivery_id))
        if delivery is not None and _holds(poller, delivery, delivery_id):
            yield delivery_id, delivery


def _holds(poller: Poller, delivery: Delivery, delivery_id: str) -> bool:
    return delivery.taker is poller and delivery_id_of(delivery) == delivery_id


def _message_id(delivery_id: str) -> str:
    return delivery_id.rpartition(".")[0]
