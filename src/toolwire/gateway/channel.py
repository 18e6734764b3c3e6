"""One channel in memory: who may use it, what is on it, who waits for what; it does not read or write the store.

Spec: gateway.md 1H, D13, D30.
"""

from collections.abc import Collection, Sequence
from typing import Any, Final, Protocol, cast

import anyio
import msgspec
from msgspec import Struct

from toolwire.core.errors import ChannelClosed, ChannelNotFound, Forbidden, IdempotencyKeyReused, InvalidParam
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.core.ports import Op
from toolwire.engine.signal import Signal
from toolwire.wire.link import TERMINAL_TYPES, Message
from toolwire.wire.rest import rfc3339

GATEWAY: Final = "gateway"
"""The publisher of what the gateway itself puts on a channel."""

MAX_REMEMBERED: Final = 1024
"""Message ids, keys and answers of a channel that are remembered to recognise a repetition."""

MAX_ROWS: Final = 1024
"""Rows a channel keeps in memory; of a longer answer the oldest deltas go."""

_canonical = msgspec.json.Encoder(order="deterministic").encode


class Party(Struct, frozen=True):
    """Who uses a channel: the gateway, an agent (`agent_id` set), or an owner."""

    name: str
    owner: str = ""
    agent_id: str | None = None


GATEWAY_PARTY: Final = Party(GATEWAY)


class Draft(Struct, frozen=True):
    """A message that somebody wants to publish. Without `message_id` one is minted."""

    type: str
    payload: JsonObject
    message_id: str | None = None
    in_reply_to: str | None = None
    idempotency_key: str | None = None


class Receipt(Struct, frozen=True):
    """The message is on the channel. `idempotent` says that it, or another answer to the same message, was before."""

    message_id: str
    offset: int
    created_at: str
    idempotent: bool = False
    recipients: Sequence[str] = ()


class Expecting(Protocol):
    """Somebody who waits for what is said in reply to one message."""

    def heard(self, message: Message) -> None:
        """A reply, terminal or not, is on the channel; must not block or raise."""
        ...

    def answered_ops(self, message: Message) -> Sequence[Op]:
        """What is committed together with `message`, a terminal reply."""
        ...


class Waiter:
    """A `wait` that blocks; `message` stays `None` when the channel closes first."""

    __slots__ = ("event", "in_reply_to", "message", "types")

    def __init__(self, in_reply_to: str, types: Collection[str] | None) -> None:
        self.in_reply_to = in_reply_to
        self.types = types
        self.message: Message | None = None
        self.event = anyio.Event()

    def wants(self, message: Message) -> bool:
        """Whether `message` is what is waited for; without types any reply is."""
        return message.in_reply_to == self.in_reply_to and (self.types is None or message.type in self.types)


class _Mark(Struct, frozen=True):
    """What is remembered of a row in the store."""

    receipt: Receipt
    publisher: str
    digest: int


class Channel:
    """A channel that is in use.

    `kept_in_stream` says where its rows are: in a stream of the store, or in `rows` until it closes (the channel of
    one call). `durable` says that a message is committed before it counts. `stored` says that the store has a record
    of the channel, `backlog` what its stream lacks until then. `last` is the last offset given out.
    """

    __slots__ = ("_answers", "_keys", "_seen", "backlog", "closed_at", "created_at", "deadline", "durable", "expected",
                 "id", "kept_in_stream", "last", "last_used", "metadata", "owner", "participants", "pending",
                 "principal", "rows", "single_shot", "stored", "waiters")  # fmt: skip

    def __init__(self, channel_id: str, owner: str, principal: str, participants: tuple[str, ...], now: float) -> None:
        self.id = channel_id
        self.owner = owner
        self.principal = principal
        self.participants = participants
        self.created_at = now
        self.last_used = now
        self.closed_at: float | None = None
        self.deadline: float | None = None
        self.metadata: JsonObject | None = None
        self.single_shot = True
        self.durable = False
        self.kept_in_stream = False
        self.stored = False
        self.last = 0
        self.rows: list[Message] = []
        self.backlog: list[Message] = []
        self.expected: dict[str, Expecting] | None = None
        self.waiters: list[Waiter] | None = None
        self.pending: dict[str, Signal] | None = None
        self._seen: dict[str, _Mark] | None = None
        self._keys: dict[str, _Mark] | None = None
        self._answers: dict[tuple[str, str], Receipt] | None = None

    def check_member(self, party: Party) -> None:
        """Let in participants, the owner, and the gateway (D30).

        Raises:
            Forbidden: an agent that does not take part.
            ChannelNotFound: another owner, who need not know that there is such a channel.
        """
        if party.agent_id is not None:
            if party.agent_id not in self.participants:
                raise Forbidden(f"agent {party.agent_id!r} takes no part in channel {self.id!r}")
        elif party is not GATEWAY_PARTY and party.owner != self.owner:
            raise channel_not_found(self.id)

    def check_open(self, now: float) -> None:
        """Demand that messages can still be published.

        Raises:
            ChannelClosed: it was closed, or its deadline has passed.
        """
        if self.is_closed(now):
            raise ChannelClosed(f"channel {self.id!r} is closed; create another one")

    def is_closed(self, now: float) -> bool:
        """Whether nothing can be published any more."""
        return self.closed_at is not None or (self.deadline is not None and now >= self.deadline)

    def message(self, draft: Draft, publisher: str, now: float) -> Message:
        """The row that a draft becomes, under the next offset."""
        self.last += 1
        self.last_used = now
        return Message(
            draft.message_id or new_id("msg"),
            self.id,
            self.last,
            draft.type,
            draft.payload,
            publisher,
            rfc3339(now),
            draft.in_reply_to,
            draft.idempotency_key,
        )

    def known(self, draft: Draft, publisher: str) -> Receipt | None:
        """The receipt of what makes `draft` a repetition: the same id, the same key, or the answer to the same message.

        Whoever has answered a message has answered it, and answers it no second time.

        Raises:
            InvalidParam: the id is another publisher's.
            IdempotencyKeyReused: the key stands for another message.
        """
        if draft.message_id is not None and (row := self._by_id(draft.message_id, publisher)) is not None:
            return row
        if draft.idempotency_key is not None and (row := self._by_key(draft)) is not None:
            return row
        if draft.in_reply_to is not None and draft.type in TERMINAL_TYPES:
            return self._answer_to(draft.in_reply_to, publisher)
        return None

    def put(self, message: Message) -> None:
        """`message` counts from now on: remember it and tell those who wait for it."""
        if self.kept_in_stream:
            self.remember(message)
        else:
            if len(self.rows) >= MAX_ROWS:
                del self.rows[1]
            self.rows.append(message)
        reply_to = message.in_reply_to
        if reply_to is not None and self.expected is not None and (expecting := self.expected.get(reply_to)):
            expecting.heard(message)
        for waiter in self.waiters or ():
            if waiter.message is None and waiter.wants(message):
                waiter.message = message
                waiter.event.set()

    def asked_again(self, draft: Draft, receipt: Receipt, publisher: str) -> None:
        """A question that is on the channel: whoever waits may not know of it, because we were started anew since."""
        expecting = None if self.expected is None else self.expected.get(draft.in_reply_to or "")
        if expecting is not None:
            at = (receipt.message_id, self.id, receipt.offset)
            row = Message(*at, draft.type, draft.payload, publisher, receipt.created_at, draft.in_reply_to)
            expecting.heard(row)

    def remember(self, message: Message) -> None:
        """Recognise `message` when it comes again."""
        if self._seen is None:
            self._seen, self._keys, self._answers = {}, {}, {}
        assert self._keys is not None
        assert self._answers is not None
        receipt = receipt_of(message)
        mark = _Mark(receipt, message.publisher_id, _digest(message) if message.idempotency_key else 0)
        self._seen[message.message_id] = mark
        if message.idempotency_key is not None:
            self._keys[message.idempotency_key] = mark
        if message.in_reply_to is not None and message.type in TERMINAL_TYPES:
            self._answers[message.in_reply_to, message.publisher_id] = receipt
        _keep_few(self._seen)
        _keep_few(self._keys)
        _keep_few(self._answers)
        self.last = max(self.last, message.offset)

    def keep_in_stream(self) -> None:
        """Go on as a conversation (gateway.md D12); the rows so far are the backlog, which its stream does not have."""
        self.backlog, self.rows = self.rows, []
        self.kept_in_stream = self.durable = True
        self.single_shot = self.stored = False
        self.closed_at = None
        for row in self.backlog:
            self.remember(row)

    def opened(self) -> None:
        """The store has the channel and its backlog now."""
        self.stored = True
        self.backlog = []

    def expect(self, message_id: str, expecting: Expecting) -> None:
        """Tell `expecting` of every reply to a message."""
        if self.expected is None:
            self.expected = {}
        self.expected[message_id] = expecting

    def wake_waiters(self) -> None:
        """Nothing more will come."""
        for waiter in self.waiters or ():
            waiter.event.set()

    def _by_id(self, message_id: str, publisher: str) -> Receipt | None:
        mark = None if self._seen is None else self._seen.get(message_id)
        if mark is None:
            for row in self.rows:
                if row.message_id == message_id:
                    mark = _Mark(receipt_of(row), row.publisher_id, 0)
                    break
        if mark is None:
            return None
        if mark.publisher != publisher:
            raise InvalidParam(f"message_id {message_id!r} is somebody else's; mint your own", param="message_id")
        return _repeated(mark.receipt)

    def _by_key(self, draft: Draft) -> Receipt | None:
        key = draft.idempotency_key
        mark = None if self._keys is None or key is None else self._keys.get(key)
        if mark is None:
            for row in self.rows:
                if row.idempotency_key == key:
                    mark = _Mark(receipt_of(row), row.publisher_id, _digest(row))
        if mark is None:
            return None
        if mark.digest != _digest(draft):
            raise IdempotencyKeyReused(
                "this idempotency_key was used with another message on this channel; take a new one",
                param="idempotency_key",
            )
        return _repeated(mark.receipt)

    def _answer_to(self, message_id: str, publisher: str) -> Receipt | None:
        if self._answers is not None and (receipt := self._answers.get((message_id, publisher))) is not None:
            return _repeated(receipt)
        for row in self.rows:
            if row.in_reply_to == message_id and row.publisher_id == publisher and row.type in TERMINAL_TYPES:
                return _repeated(receipt_of(row))
        return None


def receipt_of(message: Message) -> Receipt:
    """The receipt for a row."""
    return Receipt(message.message_id, message.offset, message.created_at)


def cancel_message(channel_id: str, target: str, now: float) -> Message:
    """The `chat_cancel` for a message (gateway.md 1H); it is for the moment and gets no place on the channel."""
    payload = {"target_message_id": target}
    return Message(new_id("msg"), channel_id, 0, "chat_cancel", payload, GATEWAY, rfc3339(now))


def _repeated(receipt: Receipt) -> Receipt:
    return Receipt(receipt.message_id, receipt.offset, receipt.created_at, idempotent=True)


def _keep_few(memory: dict[Any, Any]) -> None:
    if len(memory) > MAX_REMEMBERED:
        del memory[next(iter(memory))]


def _digest(said: Message | Draft) -> int:
    return hash((said.type, _canonical(_lasting(said.payload))))


def _lasting(payload: JsonObject) -> JsonObject:
    """A payload without what is another each time it is said: the addresses of its files."""
    attachments = payload.get("attachments")
    if not isinstance(attachments, list):
        return payload
    files = cast("list[object]", attachments)
    return {**payload, "attachments": [_without_address(as_object(file)) or file for file in files]}


def _without_address(file: JsonObject | None) -> JsonObject | None:
    return file and {name: value for name, value in file.items() if name not in ("download_url", "expires_at")}


def channel_not_found(channel_id: str) -> ChannelNotFound:
    """No such channel, or none that the asker may know of."""
    return ChannelNotFound(f"no channel {channel_id!r} here; it may have been forgotten after its retention time")
