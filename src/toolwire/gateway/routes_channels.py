"""REST: the message service of gateway.md 1H, for owners and for agents; it keeps and delivers nothing itself."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, TypeVar

import anyio
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.core.errors import Forbidden, ToolwireError
from toolwire.core.jsontypes import JsonObject
from toolwire.core.ports import Clock
from toolwire.gateway.agents import Agents
from toolwire.gateway.attachments import Attachments
from toolwire.gateway.auth import Identity
from toolwire.gateway.channel import Channel, Draft, Party
from toolwire.gateway.channel_shelf import MAX_HISTORY
from toolwire.gateway.channels import Channels
from toolwire.gateway.rest import Reader
from toolwire.surfaces.described import described, query
from toolwire.surfaces.held_open import Hold, revoked
from toolwire.surfaces.limits import Disconnected
from toolwire.surfaces.rest import answer, done, query_number
from toolwire.wire.answers.channels import Channel as ShownChannel
from toolwire.wire.answers.channels import ChannelMessage, History, Published
from toolwire.wire.link import Message
from toolwire.wire.rest import rfc3339

T = TypeVar("T")

MAX_WAIT_MS = 300_000
MAX_OFFSET = 2**53

Id = Annotated[str, Meta(min_length=1, max_length=128)]
Word = Annotated[str, Meta(min_length=1, max_length=64)]


class NewChannel(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST /api/v1/channels`; `deadline_ms` counts from now."""

    participants: Annotated[list[Id], Meta(min_length=1, max_length=32)]
    metadata: JsonObject = {}
    single_shot: bool = False
    deadline_ms: Annotated[int, Meta(gt=0, le=MAX_OFFSET)] | None = None


class NewMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST /api/v1/channels/{id}/messages`."""

    type: Word
    payload: JsonObject
    sender_id: str | None = None
    message_id: Id | None = None
    in_reply_to: Id | None = None
    idempotency_key: Annotated[str, Meta(min_length=1, max_length=255)] | None = None


class Wait(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST /api/v1/channels/{id}/wait`. Without `expect_types` any reply ends the wait, a delta too."""

    in_reply_to: Id
    timeout_ms: Annotated[int, Meta(ge=0, le=MAX_WAIT_MS)] = 30_000
    since: Annotated[int, Meta(ge=0, le=MAX_OFFSET)] = 0
    expect_types: list[Word] | None = None


class ChannelRoutes:
    """The routes of channels.

    Args:
        reader: reads requests.
        agents: all agents.
        channels: the message service.
        clock: wall time.
        reply_limit_bytes: the largest message of an agent; an owner's are as large as any request.
        attachments: finds the files that a `chat_message` brings along; without it they go as they are sent.
    """

    def __init__(
        self,
        reader: Reader,
        agents: Agents,
        channels: Channels,
        clock: Clock,
        reply_limit_bytes: int = 32 * 1024**2,
        attachments: Attachments | None = None,
    ) -> None:
        self._reader = reader
        self._agents = agents
        self._channels = channels
        self._clock = clock
        self._reply_limit_bytes = reply_limit_bytes
        self._attachments = attachments

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        one = "/api/v1/channels/{channel}"
        return (
            Route("/api/v1/channels", self.create, methods=["POST"]),
            Route(one, self.get, methods=["GET"]),
            Route(one, self.close, methods=["DELETE"]),
            Route(f"{one}/messages", self.publish, methods=["POST"]),
            Route(f"{one}/messages", self.history, methods=["GET"]),
            Route(f"{one}/wait", self.wait, methods=["POST"]),
        )

    @described("oag", ShownChannel, 201, body=NewChannel, errors="agent_not_found")
    async def create(self, request: Request) -> Response:
        """Create a channel between the owner and agents that it may see."""
        identity = self._reader.identify(request, "oag")
        body = await self._reader.body(request, NewChannel)
        found = [self._agents.find(identity.owner, agent).agent_id for agent in body.participants]
        channel = await self._channels.create(
            identity.owner,
            tuple(dict.fromkeys(found)),
            body.metadata,
            body.single_shot,
            None if body.deadline_ms is None else self._clock.now() + body.deadline_ms / 1000,
        )
        return answer(self._shown(channel), 201)

    @described("oag agk", ShownChannel)
    async def get(self, request: Request) -> Response:
        """One channel."""
        channel, _ = await self._channel(request)
        return answer(self._shown(channel))

    @described("oag")
    async def close(self, request: Request) -> Response:
        """Close a channel; what is on it can be read for some time."""
        identity = self._reader.identify(request, "oag")
        channel = await self._channels.find(_named(request), party_of(identity))
        await self._channels.close(channel)
        return done()

    @described("oag agk", Published, body=NewMessage, errors="channel_closed conflict idempotency_key_reused")
    async def publish(self, request: Request) -> Response:
        """Put a message on a channel."""
        identity = self._reader.identify(request, "oag", "agk")
        limit = self._reply_limit_bytes if identity.kind == "agk" else None
        body = await self._reader.body(request, NewMessage, limit)
        party = party_of(identity)
        if body.sender_id not in (None, party.name):
            raise Forbidden(f"sender_id {body.sender_id!r} is not whose key this is; leave it out", param="sender_id")
        channel = await self._channels.find(_named(request), party)
        payload = body.payload
        if self._attachments is not None and body.type == "chat_message" and payload.get("attachments"):
            payload = await self._attachments.told(identity, channel.participants, payload)
        draft = Draft(body.type, payload, body.message_id, body.in_reply_to, body.idempotency_key)
        receipt = await self._channels.publish(channel, draft, party)
        return answer(
            {
                "status": "published",
                "message_id": receipt.message_id,
                "offset": receipt.offset,
                "channel_id": channel.id,
                "recipients": list(receipt.recipients),
                "idempotent": receipt.idempotent,
                "created_at": receipt.created_at,
            }
        )

    @described(
        "oag agk",
        History,
        parameters=(
            query("since", "only messages after this offset", Annotated[int, Meta(ge=0, le=MAX_OFFSET)]),
            query("limit", "how many", Annotated[int, Meta(ge=1, le=MAX_HISTORY)]),
            query("type", "only messages of these types", many=True),
        ),
    )
    async def history(self, request: Request) -> Response:
        """Messages after an offset; `type` may be given several times."""
        channel, _ = await self._channel(request)
        since = query_number(request, "since", 0, 0, MAX_OFFSET)
        limit = query_number(request, "limit", 100, 1, MAX_HISTORY)
        types = request.query_params.getlist("type")
        history = await self._channels.history(channel, since, limit, types or None)
        messages = [message_shown(message) for message in history.messages]
        return answer({"messages": messages, "latest_offset": history.latest_offset})

    @described("oag agk", ChannelMessage, body=Wait, errors="channel_closed wait_timeout")
    async def wait(self, request: Request) -> Response:
        """Wait for a reply to a message."""
        identity = self._reader.identify(request, "oag", "agk")
        body = await self._reader.body(request, Wait)
        channel = await self._channels.find(_named(request), party_of(identity))

        async def waiting() -> Message:
            timeout_s = body.timeout_ms / 1000
            return await self._channels.wait(channel, body.in_reply_to, timeout_s, body.since, body.expect_types)

        message = await unless_gone(request, self._reader.hold(identity), waiting)
        return answer(message_shown(message))

    async def _channel(self, request: Request) -> tuple[Channel, Party]:
        party = party_of(self._reader.identify(request, "oag", "agk"))
        return await self._channels.find(_named(request), party), party

    def _shown(self, channel: Channel) -> JsonObject:
        shown: dict[str, Any] = {
            "channel_id": channel.id,
            "state": "closed" if channel.is_closed(self._clock.now()) else "open",
            "participants": list(channel.participants),
            "metadata": channel.metadata or {},
            "single_shot": channel.single_shot,
            "created_at": rfc3339(channel.created_at),
        }
        if channel.deadline is not None:
            shown["deadline"] = rfc3339(channel.deadline)
        if channel.closed_at is not None:
            shown["closed_at"] = rfc3339(channel.closed_at)
        return shown


def party_of(identity: Identity) -> Party:
    """Who somebody is on a channel: an agent by its own key, else the owner."""
    if identity.kind == "agk":
        return Party(identity.agent_id or "", identity.owner, identity.agent_id)
    return Party(identity.owner, identity.owner)


def message_shown(message: Message) -> JsonObject:
    """A row as REST shows it (gateway.md 1H)."""
    shown: dict[str, Any] = {
        "message_id": message.message_id,
        "channel_id": message.channel_id,
        "offset": message.offset,
        "type": message.type,
        "payload": message.payload,
        "publisher_id": message.publisher_id,
        "created_at": message.created_at,
    }
    if message.in_reply_to is not None:
        shown["in_reply_to"] = message.in_reply_to
    if message.idempotency_key is not None:
        shown["idempotency_key"] = message.idempotency_key
    about = {"from": message.publisher_id, "channel_id": message.channel_id, "timestamp": message.created_at}
    shown["metadata"] = {**about, **message.metadata}
    return shown


async def unless_gone(request: Request, hold: Hold, work: Callable[[], Awaitable[T]]) -> T:
    """Do something that takes long, but not for a client that has gone away or may not ask any more; `hold` says that.

    The body has been read.

    Raises:
        Disconnected: the client went away.
        Unauthorized: its key was revoked.
        ToolwireError: what `work` raises.
    """
    results: list[T] = []
    errors: list[ToolwireError] = []

    async def watch(scope: anyio.CancelScope) -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    def end() -> None:
        errors.append(revoked())
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch, tasks.cancel_scope)
        try:
            with hold.opened(end):
                results.append(await work())
        except ToolwireError as error:
            errors.append(error)
        tasks.cancel_scope.cancel()
    if errors:
        raise errors[0]
    if not results:
        raise Disconnected
    return results[0]


def _named(request: Request) -> str:
    return str(request.path_params["channel"])
