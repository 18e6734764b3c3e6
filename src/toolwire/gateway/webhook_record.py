"""One webhook, and one delivery, as they are kept and shown; it keeps and sends nothing.

A webhook that belongs to one task has an id made of the task's and its URL's, so that its registration is an upsert and
a task's webhooks lie side by side in the store. Of a webhook's deliveries the newest lies first.
"""

import hashlib
from typing import Literal

import msgspec
from msgspec import Struct

from toolwire.core.call import Call, Caller, Hook
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject
from toolwire.core.ports import Leased, Put, Stored
from toolwire.wire.rest import rfc3339
from toolwire.wire.webhook import DEFAULT_EVENTS, RENDERER

WEBHOOK, STANDING, DELIVERY = "webhook", "standing_webhook", "webhook_delivery"
"""The kinds of record in the store: one task's webhook, an agent's, a delivery."""

DeliveryState = Literal["pending", "succeeded", "failed", "dead_letter"]

MAX_ERROR_BYTES = 2048


class Webhook(Struct, frozen=True, omit_defaults=True):
    """A webhook of one task, or with `task_id` `None` of all calls of an agent.

    `principal` and `owner` are those of whoever made it. `sealed` holds its secrets. `tools` are the tools whose calls
    it is told of, `None` for all. `failures` counts the deliveries in a row that were given up; with `disabled_at` it
    is told nothing any more. Times are Unix seconds, UTC.
    """

    webhook_id: str
    agent_id: str
    owner: str
    principal: str
    url: str
    sealed: str
    has_secret: bool
    created_at: float
    task_id: str | None = None
    events: tuple[str, ...] = DEFAULT_EVENTS
    tools: tuple[str, ...] | None = None
    failures: int = 0
    disabled_at: float | None = None
    disabled_reason: str | None = None
    expires_at: float | None = None

    @property
    def host(self) -> str:
        """Whom it tells, with the port if the URL names one."""
        return self.url.partition("//")[2].partition("/")[0].partition("?")[0].lower()

    def hears(self, caller: Caller, tool: str) -> bool:
        """Whether a standing webhook is told of a call: an owner's of all its calls, a key's of its own."""
        if self.owner != caller.owner or self.principal not in (caller.owner, caller.principal):
            return False
        return self.tools is None or tool in self.tools

    def put(self) -> Put:
        """Writes it."""
        kind = STANDING if self.task_id is None else WEBHOOK
        return Put(kind, self.owner, self.webhook_id, _encode(self), expires_at=self.expires_at)

    def shown(self) -> JsonObject:
        """What its owner sees of it; secrets are never shown (gateway.md 34)."""
        shown: JsonObject = {
            "webhook_id": self.webhook_id,
            "agent_id": self.agent_id,
            "url": self.url,
            "has_secret": self.has_secret,
            "events": list(self.events),
            "created_at": rfc3339(self.created_at),
            "disabled_at": None if self.disabled_at is None else rfc3339(self.disabled_at),
            "disabled_reason": self.disabled_reason,
        }
        if self.task_id is None:
            return {**shown, "tools": None if self.tools is None else list(self.tools)}
        return {**shown, "task_id": self.task_id}


class WebhookDelivery(Struct, frozen=True, omit_defaults=True):
    """One event on its way to one webhook.

    `host` is whom it is for, with the port. `body` is sent as it is by every attempt. `attempt_num` counts the attempts
    made. `replayed_as` is the delivery that somebody asked for in place of one that was given up. Times are Unix
    seconds, UTC.
    """

    delivery_id: str
    webhook_id: str
    owner: str
    task_id: str
    event: str
    event_id: str
    body: bytes
    created_at: float
    expires_at: float
    host: str = ""
    status: DeliveryState = "pending"
    attempt_num: int = 0
    last_response_status: int | None = None
    last_error: str | None = None
    next_attempt_at: float | None = None
    last_attempted_at: float | None = None
    completed_at: float | None = None
    replayed_as: str | None = None

    @property
    def key(self) -> str:
        """Where it lies, among those of its owner."""
        return f"{self.webhook_id}.{self.delivery_id}"

    def put(self) -> Put:
        """Writes it."""
        return Put(DELIVERY, self.owner, self.key, _encode(self), expires_at=self.expires_at)

    def shown(self) -> JsonObject:
        """What its owner sees of it (gateway.md 38)."""
        return {
            "delivery_id": self.delivery_id,
            "webhook_id": self.webhook_id,
            "task_id": self.task_id,
            "event": self.event,
            "event_id": self.event_id,
            "renderer": RENDERER,
            "status": self.status,
            "attempt_num": self.attempt_num,
            "last_response_status": self.last_response_status,
            "last_error": self.last_error,
            "next_attempt_at": _time(self.next_attempt_at),
            "last_attempted_at": _time(self.last_attempted_at),
            "created_at": _time(self.created_at),
            "completed_at": _time(self.completed_at),
            "replayed_as": self.replayed_as,
        }


_encode = msgspec.msgpack.Encoder().encode
_decode_webhook = msgspec.msgpack.Decoder(Webhook).decode
_decode_delivery = msgspec.msgpack.Decoder(WebhookDelivery).decode


def webhook_of(row: Stored) -> Webhook:
    """A webhook from the store."""
    return _decode_webhook(row.value)


def delivery_of(row: Stored | Leased) -> WebhookDelivery:
    """A delivery from the store, or from the queue."""
    return _decode_delivery(row.value if isinstance(row, Stored) else row.body)


def new_delivery_id(now: float) -> str:
    """A fresh id; a later one sorts before it."""
    return f"dlv_{0xFFFFFFFFFFFF - int(now * 1000):012x}{new_id('')[13:]}"


def prefix_of(task_id: str) -> str:
    """What the ids of a task's webhooks begin with."""
    return f"wh_{task_id.removeprefix('call_')}_"


def task_webhook_id(task_id: str, url: str) -> str:
    """The id of a task's webhook to a URL."""
    return prefix_of(task_id) + hashlib.sha256(url.encode()).hexdigest()[:16]


def webhook_that_came(call: Call, hook: Hook, now: float, expires_at: float) -> Webhook:
    """The webhook that came with a call."""
    caller = call.caller
    return Webhook(
        task_webhook_id(call.id, hook.url),
        call.agent_id,
        caller.owner,
        caller.principal,
        hook.url,
        hook.sealed,
        hook.has_secret,
        now,
        call.id,
        hook.events or DEFAULT_EVENTS,
        expires_at=expires_at,
    )


def shortened_error(text: str) -> str:
    """An error as it is kept: 2 KiB at most."""
    return text.encode()[:MAX_ERROR_BYTES].decode(errors="ignore")


def _time(at: float | None) -> str | None:
    return None if at is None else rfc3339(at)
