"""Answers on webhooks and on what was sent to them; they hold no secret.

Spec: gateway.md 34, 38, §6 (Webhooks).
"""

from msgspec import Struct

from toolwire.wire.answers.times import Time


class RegisteredWebhook(Struct, frozen=True, kw_only=True):
    """A webhook of an agent (`tools`, or all of them) or of one task (`task_id`)."""

    webhook_id: str
    agent_id: str
    url: str
    has_secret: bool
    events: list[str]
    created_at: Time
    disabled_at: Time | None
    disabled_reason: str | None
    tools: list[str] | None = None
    task_id: str | None = None


class SentEvent(Struct, frozen=True, kw_only=True):
    """An event on its way to a webhook, and what became of it."""

    delivery_id: str
    webhook_id: str
    task_id: str
    event: str
    event_id: str
    renderer: str
    status: str
    attempt_num: int
    last_response_status: int | None
    last_error: str | None
    next_attempt_at: Time | None
    last_attempted_at: Time | None
    created_at: Time | None
    completed_at: Time | None
    replayed_as: str | None


class Replayed(Struct, frozen=True):
    """How many deliveries are sent once more."""

    replayed: int
