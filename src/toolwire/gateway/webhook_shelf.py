"""Where webhooks are found: those that may be told of a call under way in memory, all of them in the store.

It decides nothing and tells nobody.
"""

from collections.abc import Iterable, Sequence

import anyio

from toolwire.core.call import Call, Caller
from toolwire.core.ports import Del, Op, Store
from toolwire.gateway.keys import scan_all
from toolwire.gateway.webhook_record import (
    DELIVERY,
    STANDING,
    WEBHOOK,
    Webhook,
    WebhookDelivery,
    delivery_of,
    prefix_of,
    webhook_of,
)

MAX_A_TASK = 16
"""Webhooks that one task may have."""
PAGE = 200
MAX_RECENT = 4096
"""Webhooks that came with calls and are held in memory, so that they are told without a look into the store."""


class WebhookShelf:
    """All webhooks of a gateway. Call `load` before the first call comes.

    Attributes:
        changing: held by whoever reads a webhook to write it changed.
    """

    def __init__(self, store: Store) -> None:
        self.changing = anyio.Lock(fast_acquire=True)
        self._store = store
        self._standing: dict[str, dict[str, Webhook]] = {}
        self._of_task: dict[str, dict[str, Webhook]] = {}
        self._recent: dict[str, Webhook] = {}

    async def load(self) -> None:
        """Read what stands, and what belongs to the calls that were under way when the gateway stopped.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        for row in await scan_all(self._store, STANDING):
            self.keep(webhook_of(row))
        for row in await scan_all(self._store, "open_call"):
            for webhook in await self.of_task(row.owner, row.key):
                self.keep(webhook)

    def keep(self, webhook: Webhook) -> None:
        """Have it told of calls that end from now on; it is in the store already."""
        if webhook.task_id is None:
            self._standing.setdefault(webhook.agent_id, {})[webhook.webhook_id] = webhook
        else:
            self._of_task.setdefault(webhook.task_id, {})[webhook.webhook_id] = webhook

    def came(self, webhook: Webhook) -> None:
        """It comes with a call that is being claimed, and with that into the store."""
        if len(self._recent) >= MAX_RECENT:
            del self._recent[next(iter(self._recent))]
        self._recent[webhook.webhook_id] = webhook

    def replace(self, webhook: Webhook) -> None:
        """It has changed; it stays where it is."""
        self._recent.pop(webhook.webhook_id, None)
        place = self._standing if webhook.task_id is None else self._of_task
        name = webhook.agent_id if webhook.task_id is None else webhook.task_id
        if webhook.webhook_id in place.get(name, {}):
            place[name][webhook.webhook_id] = webhook

    def forget(self, webhook: Webhook) -> None:
        """Have it told of nothing; it is not in the store any more."""
        self._recent.pop(webhook.webhook_id, None)
        place = self._standing if webhook.task_id is None else self._of_task
        name = webhook.agent_id if webhook.task_id is None else webhook.task_id
        kept = place.get(name)
        if kept is not None and kept.pop(webhook.webhook_id, None) is not None and not kept:
            del place[name]

    def forget_agent(self, agent_id: str) -> Sequence[Op]:
        """Have nobody told of an agent that was removed; what removes its webhooks from the store."""
        dropped = self._standing.pop(agent_id, {}).values()
        return [Del(STANDING, webhook.owner, webhook.webhook_id) for webhook in dropped]

    def is_over(self, task_id: str) -> None:
        """A task has ended: whoever asks for its webhooks finds them in the store."""
        self._of_task.pop(task_id, None)

    def stands(self, agent_id: str, caller: Caller, tool: str) -> bool:
        """Whether a webhook of the agent's wants to be told of a call."""
        if not self._standing:
            return False
        return any(_is_live(webhook) and webhook.hears(caller, tool) for webhook in self._of_agent(agent_id))

    def hearing(self, call: Call) -> Sequence[Webhook]:
        """The webhooks that are told of a call, but for the one that came with it."""
        own = self._of_task.get(call.id) if self._of_task else None
        found = [] if own is None else [webhook for webhook in own.values() if _is_live(webhook)]
        if self._standing:
            standing = self._of_agent(call.agent_id)
            found += [one for one in standing if _is_live(one) and one.hears(call.caller, call.tool)]
        return found

    def standing(self, agent_id: str) -> Sequence[Webhook]:
        """The standing webhooks of an agent, the oldest first."""
        return sorted(self._of_agent(agent_id), key=lambda webhook: (webhook.created_at, webhook.webhook_id))

    async def of_task(self, owner: str, task_id: str) -> Sequence[Webhook]:
        """The webhooks of one task, from the store.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        prefix = prefix_of(task_id)
        rows = await self._store.scan(WEBHOOK, owner, prefix, MAX_A_TASK)
        return [webhook_of(row) for row in rows if row.key.startswith(prefix)]

    async def find(self, owner: str, webhook_id: str) -> Webhook | None:
        """A webhook of an owner.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        webhook = self._recent.get(webhook_id)
        for place in self._standing.values():
            webhook = webhook or place.get(webhook_id)
        if webhook is not None:
            return webhook if webhook.owner == owner else None
        row = await self._store.get(WEBHOOK, owner, webhook_id)
        return None if row is None else webhook_of(row)

    async def delivery(self, owner: str, key: str) -> WebhookDelivery | None:
        """A delivery of an owner's webhook, by its key.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        row = await self._store.get(DELIVERY, owner, key)
        return None if row is None else delivery_of(row)

    async def deliveries(self, webhook: Webhook, limit: int, after: str = "") -> Sequence[WebhookDelivery]:
        """The deliveries of a webhook, the newest first, from behind the delivery with the id `after`.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        prefix = f"{webhook.webhook_id}."
        rows = await self._store.scan(DELIVERY, webhook.owner, prefix + after, limit)
        return [delivery_of(row) for row in rows if row.key.startswith(prefix)]

    async def remove(self, webhook: Webhook) -> None:
        """Remove a webhook for good, and its deliveries with it: nothing more is sent (gateway.md D27).

        Raises:
            StoreUnavailable: the store cannot be written.
        """
        kind = STANDING if webhook.task_id is None else WEBHOOK
        await self._store.tx([Del(kind, webhook.owner, webhook.webhook_id)])
        self.forget(webhook)
        while found := await self.deliveries(webhook, PAGE):
            ops: Iterable[Op] = [Del(DELIVERY, one.owner, one.key) for one in found]
            await self._store.tx([*ops])

    def _of_agent(self, agent_id: str) -> Iterable[Webhook]:
        return self._standing.get(agent_id, {}).values()


def _is_live(webhook: Webhook) -> bool:
    return webhook.disabled_at is None
