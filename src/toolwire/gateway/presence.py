"""The desks of all agents, and what must outlive a restart of them; it does not decide who takes a message.

The store is told which journal may have a durable message before the message is sent there, and which agents are
attached, so that after a restart a call waits a moment for an agent that was there before.
"""

import logging
from collections.abc import Callable, Sequence

import anyio

from toolwire.core.errors import AgentNotFound, ServiceUnavailable, ToolwireError
from toolwire.core.ports import Del, Op, Put, Store
from toolwire.engine.deadline import Timekeeper
from toolwire.engine.recorder import Recorder
from toolwire.gateway.asks import Asks
from toolwire.gateway.delivery import Delivery, decode_delivery
from toolwire.gateway.desk import Desk, PushTaker, Rules
from toolwire.wire.link import DeliveryMode

logger = logging.getLogger("toolwire.gateway")


class Presence:
    """Finds the desk of an agent. Call `load` before serving, and keep `keep` running while serving.

    Args:
        store: where takers of durable messages are recorded.
        recorder: writes behind who is attached.
        timekeeper: the engine's.
        mode_of: the delivery mode of an agent now.
        rules: how long what may take.

    Attributes:
        asks: who is attached that answers questions.
    """

    def __init__(
        self,
        store: Store,
        recorder: Recorder,
        timekeeper: Timekeeper,
        mode_of: Callable[[str], DeliveryMode],
        rules: Rules | None = None,
    ) -> None:
        self._store = store
        self._recorder = recorder
        self.timekeeper = timekeeper
        self._mode_of = mode_of
        self.rules = rules or Rules()
        self._desks: dict[str, Desk] = {}
        self._to_record: list[tuple[Delivery, PushTaker]] = []
        self._wake: anyio.Event | None = None
        self._listeners: list[Callable[[str], None]] = []
        self.asks = Asks(lambda agent_id: self.desk(agent_id).expected_until)

    def desk(self, agent_id: str) -> Desk:
        """The desk of an agent."""
        desk = self._desks.get(agent_id)
        if desk is None:
            desk = Desk(agent_id, self._mode_of, self.rules, self.timekeeper, self._send)
            self._desks[agent_id] = desk
        return desk

    async def load(self) -> list[Delivery]:
        """Expect back the agents that were attached before; the messages that were not answered then.

        The messages are not at their desks yet: whoever resumes them says so (`Desk.submit`, `Desk.submit_taken`).

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        until = anyio.current_time() + self.rules.reattach_s
        for agent_id in await _keys_of(self._store, "attached"):
            self.desk(agent_id).expected_until = until
        found: list[Delivery] = []
        after = ""
        while page := await self._store.scan("delivery", None, after):
            after = page[-1].key
            for row in page:
                record = decode_delivery(row.value)
                delivery = Delivery(record.message, row.owner, record.owner, record.call_id, record.repeatable)
                delivery.durable = True
                delivery.taken_by = delivery.recorded = record.taken_by
                delivery.taken_at = record.taken_at
                delivery.attempts = 0 if record.taken_by is None else 1
                found.append(delivery)
        return found

    async def keep(self) -> None:
        """Record the takers of durable messages and then send these, until cancelled."""
        while True:
            if not self._to_record:
                self._wake = anyio.Event()
                await self._wake.wait()
                self._wake = None
            batch, self._to_record = self._to_record, []
            await self._record(batch)

    async def record_taken(self, deliveries: Sequence[Delivery], journal: str) -> None:
        """Record that `journal` may have these, before it gets them; what is not durable needs no record.

        Raises:
            StoreUnavailable: it could not be recorded.
        """
        unrecorded = [d for d in deliveries if d.durable and d.recorded != journal]
        if unrecorded:
            await self._store.tx([d.record_op(journal) for d in unrecorded])
            for delivery in unrecorded:
                delivery.recorded = journal

    def forget(self, agent_id: str) -> None:
        """An agent is removed: nobody will answer what it still has."""
        desk = self._desks.pop(agent_id, None)
        if desk is not None:
            for delivery in tuple(desk.open.values()):
                delivery.fail(AgentNotFound(f"agent {agent_id!r} was removed"))
            self.note_detached(agent_id)

    def on_changed(self, listener: Callable[[str], None]) -> None:
        """Tell `listener` of every agent that comes or goes, and of one that polls at each of its signs."""
        self._listeners.append(listener)

    def note_attached(self, agent_id: str) -> None:
        """An agent is there: after a restart it will be expected."""
        self._recorder.add(lambda: (Put("attached", "", agent_id, b""),))
        self._tell(agent_id)

    def note_detached(self, agent_id: str) -> None:
        """An agent is gone while we are not."""
        if self._recorder.stopping:
            return
        self._recorder.add(lambda: (Del("attached", "", agent_id),))
        self._tell(agent_id)

    def _tell(self, agent_id: str) -> None:
        for listener in tuple(self._listeners):
            listener(agent_id)

    def _send(self, delivery: Delivery, link: PushTaker) -> None:
        if not delivery.durable or delivery.recorded == link.journal:
            link.deliver(delivery)
            return
        self._to_record.append((delivery, link))
        if self._wake is not None:
            self._wake.set()

    async def _record(self, batch: list[tuple[Delivery, PushTaker]]) -> None:
        # A message may have been answered elsewhere, given up or handed on while it waited here.
        batch = [(delivery, link) for delivery, link in batch if delivery.taker is link]
        ops: list[Op] = [delivery.record_op(link.journal) for delivery, link in batch]
        if not ops:
            return
        try:
            await self._store.tx(ops)
        except ToolwireError as error:
            logger.error("cannot record who takes a message: %s", error.message)
            for delivery, _ in batch:
                delivery.fail(ServiceUnavailable("the call could not be handed to its agent; try again later"))
            return
        for delivery, link in batch:
            delivery.recorded = link.journal
            if delivery.taker is link and not delivery.settled:
                link.deliver(delivery)


async def _keys_of(store: Store, kind: str) -> list[str]:
    keys: list[str] = []
    while page := await store.scan(kind, None, keys[-1] if keys else ""):
        keys += [row.key for row in page]
    return keys
