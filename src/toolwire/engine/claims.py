"""Idempotency: which key stands for which call; it does not run or answer calls.

Scope and fingerprint follow gateway.md D1 and D2: a key belongs to (principal, agent); what it stands for is the tool,
its arguments and its attachments, and nothing of the request around them.
"""

import hashlib
import re
from typing import Any

import msgspec
from msgspec import Struct

from toolwire.core.call import Call
from toolwire.core.errors import IdempotencyKeyReused, InvalidParam
from toolwire.core.jsontypes import as_object
from toolwire.engine.record import Record

MAX_KEY_LEN = 255
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, and halves of characters, which are no text."""


class Claim(Struct, frozen=True):
    """What a key stands for. `first_seen` and `expires_at` are Unix seconds, UTC."""

    call_id: str
    owner: str
    fingerprint: str
    first_seen: float
    expires_at: float

    @property
    def ttl_s(self) -> float:
        """How long the key stands for its call."""
        return self.expires_at - self.first_seen


_decode = msgspec.msgpack.Decoder(Claim).decode
_encode = msgspec.msgpack.Encoder().encode
_canonical = msgspec.json.Encoder(order="deterministic").encode


class Submission(Struct, frozen=True):
    """What became of a call that was handed in.

    `claim` is set under an idempotency key. `replayed` says that the record was there already, ended or running.
    """

    record: Record
    claim: Claim | None = None
    replayed: bool = False


def check_key(key: object) -> str:
    """The key, if it may be one.

    Raises:
        InvalidParam: not a string, empty, longer than 255, or with control characters (gateway.md D8).
    """
    if not isinstance(key, str):
        raise InvalidParam("idempotency_key must be a string", param="arguments.idempotency_key")
    if not 1 <= len(key) <= MAX_KEY_LEN:
        raise InvalidParam(
            f"idempotency_key must have 1 to {MAX_KEY_LEN} characters, not {len(key)}",
            param="arguments.idempotency_key",
        )
    if _CONTROL.search(key) is not None:
        raise InvalidParam("idempotency_key must not have control characters", param="arguments.idempotency_key")
    return key


def scope_of(call: Call) -> str:
    """The name under which a key's claim is kept: a hash, so that keys never rest or are logged in clear (D9)."""
    if call.claimed_as:
        return call.claimed_as
    parts = (call.caller.principal, call.agent_id, call.idempotency_key or "")
    return hashlib.sha256(_canonical(parts)).hexdigest()


def at_rest(call: Call) -> Call:
    """See `Call.at_rest`; a call without a key, or one that was read from the store, is at rest as it is."""
    return call if call.idempotency_key is None or call.claimed_as else call.at_rest(scope_of(call))


def fingerprint_of(call: Call) -> str:
    """What the key stands for, independent of key order and of how a number is written (D2).

    Raises:
        InvalidParam: the arguments are not JSON, or nested too deeply.
    """
    try:
        attachments = [msgspec.to_builtins(a) for a in call.attachments]
        subject = _canonical((call.tool, call.arguments, attachments))
        if b".0" in subject:  # perhaps a whole number that was written as a fraction
            subject = _canonical((call.tool, _plain(call.arguments), attachments))
        return hashlib.sha256(subject).hexdigest()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidParam(f"these arguments cannot be kept as JSON: {error}", param="arguments") from None


def encode_claim(claim: Claim) -> bytes:
    """The row of a claim."""
    return _encode(claim)


def decode_claim(row: bytes) -> Claim:
    """A claim from its row."""
    return _decode(row)


def check_same(claim: Claim, fingerprint: str) -> None:
    """Hold a repeat against what the key stands for.

    Raises:
        IdempotencyKeyReused: it stands for something else; nothing is dispatched (D3).
    """
    if claim.fingerprint != fingerprint:
        raise IdempotencyKeyReused(
            "this idempotency_key was used with another tool or other arguments; take a new key for a new call",
            param="arguments.idempotency_key",
        )


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    members = as_object(value)
    if members is not None:
        return {k: _plain(v) for k, v in members.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]  # pyright: ignore[reportUnknownVariableType] - decoded JSON
    return value
