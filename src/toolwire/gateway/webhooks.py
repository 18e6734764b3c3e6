"""Registers webhooks and watches over calls for them; it makes and sends no deliveries of its own accord.

Who may see a webhook: the owner all of its own, a `bak_` key those that it made (gateway.md D24).
"""

from collections.abc import Sequence
from typing import Annotated

import msgspec
from anyio.lowlevel import checkpoint
from msgspec import Meta, Struct
from msgspec.structs import replace

from toolwire.core.call import Call, Hook
from toolwire.core.errors import CallNotFound, Conflict, InvalidParam, WebhookNotFound
from toolwire.core.ids import new_id
from toolwire.core.ports import Clock, Store
from toolwire.core.posting import Poster
from toolwire.engine.engine import Engine
from toolwire.engine.promote import watch
from toolwire.engine.record import CallRecord, Record
from toolwire.gateway.agent_record import AgentRecord
from toolwire.gateway.auth import Identity
from toolwire.gateway.webhook_events import WebhookEvents
from toolwire.gateway.webhook_record import Webhook, WebhookDelivery, task_webhook_id
from toolwire.gateway.webhook_secrets import SecretBox, Secrets
from toolwire.gateway.webhook_shelf import MAX_A_TASK, PAGE, WebhookShelf
from toolwire.wire.webhook import DEFAULT_EVENTS, EVENTS, check_secret

MAX_STANDING = 50
"""Standing webhooks that one principal may have on one agent."""
MAX_TOKEN_CHARS = 1024
REPLAYABLE = ("failed", "dead_letter")


class Wanted(Struct, frozen=True, forbid_unknown_fields=True):
    """A webhook as somebody wants it (gateway.md 34, §6).

    `secret` signs, 16 to 256 characters; "" and `None` keep the one there is. `token` is sent as a bearer token; ""
    takes it away. `events` are statuses, by default the final ones and `input_required`. `tools` are for a standing
    webhook alone.
    """

    url: Annotated[str, Meta(min_length=1, max_length=2048)]
    secret: str | None = None
    token: Annotated[str, Meta(max_length=MAX_TOKEN_CHARS)] | None = None
    events: Annotated[list[str], Meta(min_length=1, max_length=len(EVENTS))] | None = None
    tools: Annotated[list[str], Meta(min_length=1, max_length=1000)] | None = None


class Webhooks:
    """All that is done with webhooks from outside; a `surfaces.endpoint.Watch`.

    Args:
        engine: knows the calls.
        shelf: keeps the webhooks.
        events: makes deliveries.
        box: seals their secrets.
        poster: knows which URLs may be asked.
    """

    def __init__(
        self, engine: Engine, shelf: WebhookShelf, events: WebhookEvents, box: SecretBox, poster: Poster
    ) -> None:
        self._engine = engine
        self._store: Store = engine.store
        self._clock: Clock = engine.clock
        self._shelf = shelf
        self._events = events
        self._box = box
        self._poster = poster

    def stands(self, call: Call) -> bool:
        """See `surfaces.endpoint.Watch`: whether a standing webhook wants to be told of a call."""
        return self._shelf.stands(call.agent_id, call.caller, call.tool)

    async def over(self, call: Call, given: object, param: str = "_meta.toolwire/webhook") -> Call:
        """See `surfaces.endpoint.Watch`: the call, watched.

        Args:
            call: before it is submitted.
            given: the webhook that came with it as sent, `{url, secret?, token?, events?}`; `None` without one.
            param: where that stands in the request, for what is said of it.

        Raises:
            InvalidParam: it is no webhook, or its URL may not be asked.
        """
        if given is None:
            return replace(call, watched=True)
        try:
            wanted = msgspec.convert(given, Wanted)
        except msgspec.ValidationError as error:
            raise InvalidParam(f"{param} does not fit: {error}", param=param) from None
        if wanted.tools is not None:
            raise InvalidParam("a webhook that comes with a call takes no tools", param=f"{param}.tools")
        await self._check(wanted, f"{param}.")
        secrets = Secrets().changed(wanted.secret, wanted.token, self._clock.now())
        sealed = self._box.seal(secrets, call.caller.owner)
        hook = Hook(wanted.url, sealed, bool(secrets.secret), tuple(wanted.events or ()))
        return replace(call, watched=True, hook=hook)

    async def stand(self, identity: Identity, agent_id: str, wanted: Wanted) -> Webhook:
        """Register a webhook for all calls of an agent; the same URL again changes what is there.

        Raises:
            InvalidParam: it cannot be used as it is wanted.
            Conflict: the caller has `MAX_STANDING` of them.
            StoreUnavailable: the store cannot be written.
        """
        await self._check(wanted)
        async with self._shelf.changing:
            own = [one for one in self._shelf.standing(agent_id) if _made_by(identity, one)]
            known = next((one for one in own if one.url == wanted.url), None)
            if known is None and len(own) >= MAX_STANDING:
                raise Conflict(f"there are {MAX_STANDING} webhooks already; delete one of them first")
            webhook = known or self._new(identity, new_id("whs"), agent_id, wanted)
            webhook = self._changed(webhook, wanted)
            if wanted.tools is not None:
                webhook = replace(webhook, tools=tuple(wanted.tools))
            await self._store.tx([webhook.put()])
            self._shelf.keep(webhook)
        return webhook

    async def attach(self, identity: Identity, agent_id: str, task_id: str, wanted: Wanted) -> Webhook:
        """Register a webhook for one task; one that has ended is told of at once.

        Raises:
            CallNotFound: there is no such task for this caller.
            InvalidParam: it cannot be used as it is wanted.
            Conflict: the task has `MAX_A_TASK` of them, or the URL is there and another's.
            StoreUnavailable: the store cannot be written.
        """
        found = await self.task(identity, agent_id, task_id)
        if wanted.tools is not None:
            raise InvalidParam("a task's webhook takes no tools", param="tools")
        await self._check(wanted)
        owner = found.call.caller.owner
        async with self._shelf.changing:
            kept = {one.webhook_id: one for one in await self._shelf.of_task(owner, task_id)}
            webhook_id = task_webhook_id(task_id, wanted.url)
            if webhook_id not in kept and len(kept) >= MAX_A_TASK:
                raise Conflict(f"the task has {MAX_A_TASK} webhooks already; delete one of them first")
            known = kept.get(webhook_id)
            if known is not None and not _visible(identity, known):
                raise Conflict("another credential has registered this url for the task; take another url")
            webhook = self._changed(known or self._new(identity, webhook_id, agent_id, wanted, task_id), wanted)
            webhook = replace(webhook, expires_at=self._events.gone_at(found.call))
            await self._store.tx([webhook.put()])
            if known is None:
                await self._hear(webhook, owner, task_id)
            else:
                self._shelf.replace(webhook)
        return webhook

    async def _hear(self, webhook: Webhook, owner: str, task_id: str) -> None:
        """Have a task's new webhook told of the end, which may be ahead, under way or over."""
        record = self._engine.find(task_id)
        if record is not None and self._events.is_ending(task_id):
            await record.wait()
        elif record is not None and not record.over:
            self._shelf.keep(webhook)
            if not record.call.watched:
                await watch(self._engine, record)
            self._events.listen(record)
            return
        ended = await self._engine.load(owner, task_id)
        if ended is not None and ended.completed_at is not None:
            ops = self._events.end_ops_for([webhook], ended)
            if ops:
                await self._store.tx(ops)
                self._events.wake()

    async def task(self, identity: Identity, agent_id: str, task_id: str) -> Record | CallRecord:
        """A call of whoever asks.

        Raises:
            CallNotFound: there is none of that id for this caller with this agent.
            StoreUnavailable: the store cannot be read.
        """
        found: Record | CallRecord | None = self._engine.find(task_id)
        if found is None:
            found = await self._engine.load(identity.owner, task_id)
        if found is not None and found.call.agent_id == agent_id:
            caller = found.call.caller
            mine = identity.kind == "oag" or caller.principal == identity.principal
            if mine and caller.owner == identity.owner:
                return found
        raise CallNotFound(f"no task {task_id!r} of yours with this agent; it may have been forgotten since")

    async def list(self, identity: Identity, agent_id: str, task_id: str | None) -> Sequence[Webhook]:
        """The webhooks of a task, or with `None` the standing ones of an agent, that this caller may see.

        Raises:
            CallNotFound: there is no such task for this caller.
            StoreUnavailable: the store cannot be read.
        """
        if task_id is None:
            return [one for one in self._shelf.standing(agent_id) if _visible(identity, one)]
        found = await self.task(identity, agent_id, task_id)
        kept = await self._shelf.of_task(found.call.caller.owner, task_id)
        return [one for one in kept if _visible(identity, one)]

    async def find(self, identity: Identity, agent_id: str, task_id: str | None, webhook_id: str) -> Webhook:
        """A webhook that this caller may see.

        Raises:
            WebhookNotFound: there is none of that id there.
            StoreUnavailable: the store cannot be read.
        """
        webhook = await self._shelf.find(identity.owner, webhook_id)
        if webhook is None or not _visible(identity, webhook):
            raise _unknown(webhook_id)
        if (webhook.agent_id, webhook.task_id) != (agent_id, task_id):
            raise _unknown(webhook_id)
        return webhook

    async def remove(self, webhook: Webhook) -> None:
        """Delete a webhook: nothing more is sent (gateway.md D27).

        Raises:
            StoreUnavailable: the store cannot be written.
        """
        async with self._shelf.changing:
            await self._shelf.remove(webhook)

    def agent_removed(self, record: AgentRecord) -> None:
        """Forget the webhooks of an agent that is there no more."""
        ops = self._shelf.forget_agent(record.agent_id)
        if ops:
            self._engine.recorder.add(lambda: ops)

    async def deliveries(self, webhook: Webhook, limit: int) -> Sequence[WebhookDelivery]:
        """The newest deliveries of a webhook.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        return await self._shelf.deliveries(webhook, limit)

    async def redeliver(self, webhook: Webhook, delivery_id: str) -> WebhookDelivery:
        """Send a delivery that was given up once more: the same bytes, with a fresh signature (gateway.md X16).

        Raises:
            WebhookNotFound: the webhook has no such delivery.
            Conflict: it was not given up.
            StoreUnavailable: the store cannot be written.
        """
        delivery = await self._shelf.delivery(webhook.owner, f"{webhook.webhook_id}.{delivery_id}")
        if delivery is None:
            raise WebhookNotFound(f"no delivery {delivery_id!r} of this webhook; list its deliveries")
        if delivery.status not in REPLAYABLE:
            raise Conflict(f"the delivery is {delivery.status}; only failed and dead_letter ones are sent again")
        return await self._again(webhook, delivery, 0)

    async def replay(self, webhook: Webhook, states: Sequence[str], since: float, until: float) -> int:
        """Send again all deliveries that were given up, and not sent again since; says how many.

        Args:
            webhook: whose.
            states: of `REPLAYABLE`.
            since: made at this time or later, Unix seconds.
            until: made before this time.

        Raises:
            StoreUnavailable: the store cannot be written; some may be on their way.
        """
        count, after = 0, ""
        while page := await self._shelf.deliveries(webhook, PAGE, after):
            after = page[-1].delivery_id
            for delivery in page:
                given_up = delivery.status in states and delivery.replayed_as is None
                if given_up and since <= delivery.created_at < until:
                    await self._again(webhook, delivery, count)
                    count += 1
            await checkpoint()
        return count

    async def _again(self, webhook: Webhook, delivery: WebhookDelivery, place: int) -> WebhookDelivery:
        event, body = delivery.event, delivery.body
        again = self._events.delivery(webhook, delivery.task_id, event, delivery.event_id, body, place)
        marked = replace(delivery, replayed_as=again.delivery_id)
        await self._store.tx([marked.put(), *self._events.delivery_ops(again)])
        self._events.wake()
        return again

    def _new(
        self, identity: Identity, webhook_id: str, agent_id: str, wanted: Wanted, task_id: str | None = None
    ) -> Webhook:
        owner, now = identity.owner, self._clock.now()
        sealed = self._box.seal(Secrets(), owner)
        return Webhook(webhook_id, agent_id, owner, identity.principal, wanted.url, sealed, False, now, task_id)

    def _changed(self, webhook: Webhook, wanted: Wanted) -> Webhook:
        """A webhook as it is wanted now; whoever registers it again wants it told again, too."""
        secrets = self._box.open(webhook.sealed, webhook.owner) or Secrets()
        secrets = secrets.changed(wanted.secret, wanted.token, self._clock.now())
        events = webhook.events if wanted.events is None else tuple(wanted.events)
        return replace(
            webhook,
            sealed=self._box.seal(secrets, webhook.owner),
            has_secret=bool(secrets.secret),
            events=events or DEFAULT_EVENTS,
            failures=0,
            disabled_at=None,
            disabled_reason=None,
        )

    async def _check(self, wanted: Wanted, prefix: str = "") -> None:
        for event in wanted.events or ():
            if event not in EVENTS:
                raise InvalidParam(f"no event {event!r}; there are {', '.join(EVENTS)}", param=f"{prefix}events")
        if wanted.secret:
            try:
                check_secret(wanted.secret)
            except ValueError as error:
                raise InvalidParam(str(error), param=f"{prefix}secret") from None
        if wanted.token and not (wanted.token.isascii() and wanted.token.isprintable()):
            raise InvalidParam("a token has printable ASCII characters", param=f"{prefix}token")
        reason = await self._poster.check(wanted.url)
        if reason is not None:
            raise InvalidParam(f"this url cannot be told: {reason}", param=f"{prefix}url", reason="blocked_address")


def _made_by(identity: Identity, webhook: Webhook) -> bool:
    return (webhook.owner, webhook.principal) == (identity.owner, identity.principal)


def _visible(identity: Identity, webhook: Webhook) -> bool:
    return webhook.owner == identity.owner and (identity.kind == "oag" or webhook.principal == identity.principal)


def _unknown(webhook_id: str) -> WebhookNotFound:
    return WebhookNotFound(f"no webhook {webhook_id!r} of yours here; list the webhooks to find its id")
