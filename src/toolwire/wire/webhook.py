"""Webhook deliveries as bytes: payload, headers and both signatures; it sends nothing.

One delivery carries two signatures over one body, so that any receiver finds the one it knows (gateway.md 33, D25):

* `X-Toolwire-Signature: t=<unix>,v1=<hex>`: HMAC-SHA256 over `"<t>." + body`, keyed by the secret's UTF-8 bytes.
* Standard Webhooks 1.0: `webhook-id`, `webhook-timestamp`, `webhook-signature: v1,<base64>`: over `id.t.body`, keyed by
  the same bytes, or by what follows `whsec_`, base64-decoded, where the secret begins so.

While a secret is being rotated both headers hold a signature by the old one, too, behind that by the new one.
"""

import base64
import binascii
import hmac
from collections.abc import Collection, Sequence

import msgspec
from msgspec import Struct

from toolwire.wire.rest import rfc3339

EVENT = "task.state"
RENDERER = "openapi"
COMPAT_BEEOS = "beeos"
"""The compatibility set of headers under the names of gateway.md 33 and 35."""

TERMINAL = ("completed", "failed", "canceled", "timeout", "rejected")
EVENTS = ("queued", "running", "input_required", *TERMINAL)
DEFAULT_EVENTS = ("input_required", *TERMINAL)

WHSEC = "whsec_"
MIN_SECRET_CHARS, MAX_SECRET_CHARS = 16, 256


class TaskStatus(Struct, frozen=True, tag_field="type", tag="task_status"):
    """The payload of a delivery (gateway.md 36, D27).

    Receivers dedupe by `event_id`, or by (`task_id`, `status`, `timestamp`). `sequence` rises within a task; deliveries
    may come in another order. Members may be added; none goes.
    """

    task_id: str
    context_id: str | None
    status: str
    final: bool
    timestamp: str
    event_id: str
    agent_id: str
    tool: str
    sequence: int


_encode = msgspec.json.Encoder().encode


def payload(event_id: str, status: str, at: float, sequence: int, subject: tuple[str, str | None, str, str]) -> bytes:
    """The body of a delivery.

    Args:
        event_id: stays the same over all attempts and redeliveries.
        status: one of `EVENTS`.
        at: Unix seconds, UTC.
        sequence: the event's place in its task.
        subject: the task's id, its context's, its agent's, and its tool's name.
    """
    task_id, context_id, agent_id, tool = subject
    final = status in TERMINAL
    return _encode(TaskStatus(task_id, context_id, status, final, rfc3339(at), event_id, agent_id, tool, sequence))


def check_secret(secret: str) -> None:
    """Whether a secret can be used for both signatures.

    Raises:
        ValueError: it is too short or too long, or begins with `whsec_` and does not go on in base64.
    """
    if not MIN_SECRET_CHARS <= len(secret) <= MAX_SECRET_CHARS:
        raise ValueError(f"a secret has {MIN_SECRET_CHARS} to {MAX_SECRET_CHARS} characters, not {len(secret)}")
    try:
        standard_key(secret)
    except ValueError:
        raise ValueError("a secret that begins with whsec_ goes on in base64") from None


def standard_key(secret: str) -> bytes:
    """The key of the Standard Webhooks signature.

    Raises:
        ValueError: the secret begins with `whsec_` and does not go on in base64.
    """
    if not secret.startswith(WHSEC):
        return secret.encode()
    try:
        key = base64.b64decode(secret.removeprefix(WHSEC), validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None
    if not key:
        raise ValueError("there is nothing after whsec_")
    return key


def timed_signature(secrets: Sequence[str], at: int, body: bytes) -> str:
    """The value of `X-Toolwire-Signature`; one `v1` for each secret."""
    signed = f"{at}.".encode() + body
    marks = [hmac.digest(secret.encode(), signed, "sha256").hex() for secret in secrets]
    return ",".join([f"t={at}", *(f"v1={mark}" for mark in marks)])


def standard_signature(secrets: Sequence[str], event_id: str, at: int, body: bytes) -> str:
    """The value of `webhook-signature`; one `v1,…` for each secret, separated by spaces."""
    signed = f"{event_id}.{at}.".encode() + body
    marks = [hmac.digest(standard_key(secret), signed, "sha256") for secret in secrets]
    return " ".join(f"v1,{base64.b64encode(mark).decode()}" for mark in marks)


def headers_of(
    event_id: str,
    task_id: str,
    at: int,
    body: bytes,
    secrets: Sequence[str] = (),
    token: str | None = None,
    compat: Collection[str] = (COMPAT_BEEOS,),
) -> dict[str, str]:
    """All headers of one attempt.

    Args:
        event_id: the event's id, the `webhook-id`.
        task_id: whose end it tells.
        at: the time of this attempt, whole Unix seconds.
        body: the bytes that are sent.
        secrets: the live ones, the newest first; without one there is no signature.
        token: sent as `Authorization: Bearer`, if there is one.
        compat: the sets of headers under others' names that go along.
    """
    headers = {
        "content-type": "application/json",
        "user-agent": "toolwire-webhook/1",
        "x-toolwire-event": EVENT,
        "x-toolwire-task-id": task_id,
        "webhook-id": event_id,
        "webhook-timestamp": str(at),
    }
    if secrets:
        headers["x-toolwire-signature"] = timed_signature(secrets, at, body)
        headers["webhook-signature"] = standard_signature(secrets, event_id, at, body)
    if COMPAT_BEEOS in compat:
        names = [name for name in headers if name.startswith("x-toolwire-")]
        headers |= {name.replace("toolwire", "beeos"): headers[name] for name in names}
        headers["x-beeos-webhook-format"] = RENDERER
    if token:
        headers["authorization"] = f"Bearer {token}"
    return headers
