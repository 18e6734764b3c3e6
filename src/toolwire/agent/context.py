"""What an agent's tool is given besides its arguments: a `ToolContext` with the parts of its channel.

It does not publish the answer: what the tool returns is the answer.
"""

import math
import os
import threading
from collections.abc import Awaitable, Generator
from hashlib import sha256
from typing import Any, Final, Protocol, Self

import anyio.from_thread
import anyio.lowlevel
import msgspec

from toolwire.agent.asking import GatewayAsker
from toolwire.agent.files import AttachedFile, FilePlace, Returned, attached_files, returned_file
from toolwire.core.call import Call, Caller
from toolwire.core.errors import StoreUnavailable
from toolwire.core.event import Chunk, Event, Log, Paused, Progress
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.core.result import Text
from toolwire.core.tasking import MakeTask
from toolwire.sdk.context import ToolContext
from toolwire.wire.link import AUTH_GRANT, INPUT_REQUIRED, USER_CONTINUE, Message, call_id_of

PAGE_ROWS: Final = 500
"""How many rows a gateway gives at once."""

DELTA: Final = "agent_reply_delta"

SOMEBODY: Final = Caller(principal="", owner="", surface="gateway")
"""Who asks, as far as an agent knows."""


_encode = msgspec.json.Encoder(order="deterministic").encode


class Channel(Protocol):
    """What a context needs of the channel its message came by."""

    @property
    def files(self) -> FilePlace | None:
        """Where files are read and kept; `None` where there is no such place."""
        ...

    def publish_delta(self, message: Message, payload: JsonObject) -> None:
        """Send a part of the answer to `message`; it may get lost with the link."""
        ...

    def ask(self, message: Message, type: str, payload: JsonObject, question_id: str) -> str | None:
        """Send a question in reply to `message`, for certain; its id, or `None` where nobody could answer it.

        Raises:
            ValueError: it is larger than what can be sent.
        """
        ...

    def heard_early(self, question_id: str) -> Message | None:
        """The answer to a question, if it has come before the question was asked."""
        ...

    def asks_no_more(self, question_id: str) -> None:
        """The question is answered, or not wanted any more."""
        ...

    def rest(self, message: Message) -> None:
        """The body of `message` waits for an answer: another may work in its place."""
        ...

    def wake(self, message: Message) -> None:
        """It goes on."""
        ...

    async def room(self) -> None:
        """Wait until the link keeps up with what was published."""
        ...

    async def read(self, channel_id: str, since: int, limit: int) -> tuple[Message, ...]:
        """The rows of a channel after the offset `since`, in order.

        Raises:
            ToolwireError: the gateway does not give them.
        """
        ...


class Ctx(ToolContext):
    """The surroundings of one message to an agent. Made by hand it belongs to no channel, for unit tests of a tool.

    Attributes:
        channel_id: the conversation; calls of one MCP session share it.
        attachments: the files that came along.
    """

    channel_id: str = ""
    attachments: tuple[AttachedFile, ...] = ()
    _message: Message | None = None
    _channel: Channel | None = None
    _inbound: "Inbound | None" = None

    def attach(self, inbound: "Inbound") -> Self:
        """For the runtime: make this the context of a `chat_message`."""
        message, channel = inbound.message, inbound.channel
        self._inbound = inbound
        self.channel_id = message.channel_id
        self.attachments = attached_files(message.payload.get("attachments"), channel.files)
        self._message, self._channel = message, channel
        return self

    def say(self, text: str) -> Awaitable[None]:
        """Send a part of the answer ahead of the whole; awaiting it is optional and waits for a slow link."""
        super().say(text)
        return self._pause()

    def progress(self, message: str, value: float | None = None, total: float | None = None) -> Awaitable[None]:
        """Tell how far the work is; awaiting it is optional and waits for a slow link.

        Args:
            message: a short line for people.
            value: how far; it must rise, so one that would not is replaced by the last one plus one.
            total: the value at the end, when it is known.

        Raises:
            TypeError: `value` or `total` is not a number.
        """
        super().progress(message, value, total)
        return self._pause()

    async def history(self, limit: int = 20) -> list[Message]:
        """What was said on the channel before this message, the oldest first, without the partial answers.

        Args:
            limit: at most so many rows, the latest ones.

        Raises:
            ToolwireError: the gateway does not give them.
        """
        if self._channel is None or self._message is None or limit <= 0:
            return []
        rows: list[Message] = []
        end = self._message.offset
        while end > 1 and len(rows) < limit:
            since = max(0, end - 1 - PAGE_ROWS)  # offsets may have gaps, so this is a page at most
            page = await self._channel.read(self.channel_id, since, PAGE_ROWS)
            rows = [row for row in page if row.offset < end and row.type != DELTA] + rows
            end = since + 1
        return rows[-limit:]

    async def file(
        self, data: bytes | str | os.PathLike[str], name: str | None = None, content_type: str | None = None
    ) -> Returned:
        """A file to return: it is kept at the gateway, and the caller gets a small picture itself, else a link to it.

        Args:
            data: the content, or the path of a file that has it.
            name: what the file is called; for a path by default its own name.
            content_type: what it is; by default what its name says.

        Returns:
            A content block; return it alone, or in a list with others. Where there is no gateway, as in a context made
            by hand, it has the content in itself.

        Raises:
            ToolError: the gateway does not take it, for example because it is too large.
            OSError: the file cannot be read.
            ValueError: there is no name.
        """
        return await returned_file(data, name, content_type, None if self._channel is None else self._channel.files)

    async def inquire(self, type: str, payload: JsonObject, expected: str) -> Message | None:
        """Ask on the channel, without ending the call, and wait for the answer.

        Args:
            type: of the message that asks.
            payload: what it says.
            expected: the type of the message that answers; its `in_reply_to` is the message that asks.

        Returns:
            The answer; `None` where nobody can be asked, as in a context made by hand.

        Raises:
            ValueError: the question is larger than what can be sent.
        """
        return None if self._inbound is None else await self._inbound.inquire(type, payload, expected)

    def _pause(self) -> Awaitable[None]:
        pause = _Pause(self._channel)
        if self._channel is not None and not self._abandoned and threading.get_ident() != self._thread:
            try:  # a thread cannot await, and must not run ahead either
                anyio.from_thread.run(pause.wait, token=self._loop)
            except anyio.RunFinishedError:
                self.abandon()
        return pause


def asker_behind(ctx: Ctx) -> GatewayAsker | None:
    """Asks the client behind the message of a context, if it has declared something."""
    return None if ctx._inbound is None else ctx._inbound.asker  # pyright: ignore[reportPrivateUsage] -- of this module


class _Question:
    """What is asked now; `answer` stays `None` until somebody answers."""

    __slots__ = ("answer", "answered", "expected")

    def __init__(self, expected: str) -> None:
        self.expected = expected
        self.answer: Message | None = None
        self.answered = anyio.Event()


class Inbound:
    """A message at work. Called with an event of it, it tells the channel; so it is the `emit` of the call it carries.

    Args:
        message: a `chat_message`.
        channel: where it came from.
    """

    __slots__ = ("_asker", "_ctx", "_questions", "_said", "cancelled", "channel", "message")

    def __init__(self, message: Message, channel: Channel) -> None:
        self.message = message
        self.channel = channel
        self.cancelled = False
        self._asker: GatewayAsker | None = None
        self._ctx: Ctx | None = None
        self._questions: dict[str, _Question] | None = None
        self._said: dict[str, int] | None = None

    def __call__(self, event: Event) -> None:
        """Tell the channel, unless nobody listens any more."""
        payload = None if self.cancelled else delta_of(event)
        if payload is not None:
            self.channel.publish_delta(self.message, payload)

    def call(self, tool: str, arguments: JsonObject) -> Call:
        """The call that the message carries; who asked is known to the gateway alone."""
        message = self.message
        call_id = call_id_of(message.message_id)
        known = as_object(message.payload.get("metadata")) or {}
        return Call(
            call_id,
            SOMEBODY,
            tool,
            arguments,
            _deadline(known),
            context_id=message.channel_id,
            client_capabilities=as_object(known.get("client_capabilities")),
        )

    def context(self, call: Call) -> Ctx:
        """The context of `call`, made when a body asks for it."""
        ctx = self._ctx = Ctx.for_call(call, self).attach(self)
        if self.cancelled:
            ctx.abandon()
        return ctx

    @property
    def asker(self) -> GatewayAsker | None:
        """Asks the client behind the message, if it has declared something; found by `core.asking.asker_of`."""
        if self._asker is None:
            known = as_object(self.message.payload.get("metadata")) or {}
            can = as_object(known.get("client_capabilities"))
            if can is not None:
                self._asker = GatewayAsker(self._ask_client, self._page_done, can, _deadline(known))
        return self._asker

    @property
    def make_task(self) -> MakeTask | None:
        """Has the gateway make a task of the call, if it takes that; found by `core.tasking.task_maker_of`."""
        known = as_object(self.message.payload.get("metadata")) or {}
        return self._become_task if known.get("may_become_task") is True else None

    async def _become_task(self) -> float:
        said = await self.inquire(INPUT_REQUIRED, {"text": "", "task": True}, USER_CONTINUE)
        payload = {} if said is None else said.payload
        refused = as_object(payload.get("error"))
        if refused is not None:
            raise StoreUnavailable(str(refused.get("message") or "the task cannot be committed"))
        known = as_object(self.message.payload.get("metadata")) or {}
        return _deadline(payload if "deadline" in payload else known)

    async def _ask_client(self, payload: JsonObject) -> JsonObject | None:
        said = await self.inquire(INPUT_REQUIRED, payload, USER_CONTINUE)
        if said is not None and said.type == AUTH_GRANT and "answers" not in said.payload:
            return {"answers": {asked["key"]: {"action": "accept"} for asked in payload["questions"]}}
        return None if said is None else said.payload

    def _page_done(self, key: str) -> None:
        self.channel.publish_delta(self.message, {"text": "", "page_done": key})

    async def inquire(self, type: str, payload: JsonObject, expected: str) -> Message | None:
        """See `Ctx.inquire`.

        A body that is run again, by a process that has taken the place of one that died, asks under the same id.
        """
        if self._questions is None or self._said is None:
            self._questions, self._said = {}, {}
        questions, said = self._questions, sha256(_encode([self.message.message_id, type, payload])).hexdigest()[:32]
        times = self._said[said] = self._said.get(said, 0) + 1
        asked = self.channel.ask(self.message, type, payload, f"msg_{said}_{times}")
        if asked is None:
            return None
        question = questions[asked] = _Question(expected)
        early = self.channel.heard_early(asked)
        if early is not None:
            self.hear(early)
        self.channel.rest(self.message)
        try:
            await question.answered.wait()
        finally:
            self.channel.asks_no_more(asked)
            self.channel.wake(self.message)
            del questions[asked]
        return question.answer

    def hear(self, message: Message) -> bool:
        """Take the answer to a question; `False` if it is none, or was answered already."""
        question = (self._questions or {}).get(message.in_reply_to or "")
        if question is None or message.channel_id != self.message.channel_id:
            return False
        if message.type not in (question.expected, AUTH_GRANT if question.expected == USER_CONTINUE else ""):
            return False
        if question.answer is not None:
            return False
        question.answer = message
        question.answered.set()
        return True

    def stop(self) -> None:
        """Nobody wants the answer any more: tell the body, and drop what it still says."""
        self.cancelled = True
        if self._ctx is not None:
            self._ctx.abandon()


class _Pause:
    """Awaitable as often as wanted, and harmless when it is not awaited."""

    __slots__ = ("_channel",)

    def __init__(self, channel: Channel | None) -> None:
        self._channel = channel

    def __await__(self) -> Generator[Any, Any, None]:
        return self.wait().__await__()

    async def wait(self) -> None:
        await anyio.lowlevel.checkpoint()
        if self._channel is not None:
            await self._channel.room()


def _deadline(known: JsonObject) -> float:
    deadline = known.get("deadline")
    return float(deadline) if isinstance(deadline, int | float) else math.inf


def delta_of(event: Event) -> JsonObject | None:
    """The payload of the `agent_reply_delta` for an event, or `None` where the channel has no word for it."""
    match event:
        case Chunk(content=Text(text=text)):
            return {"text": text}
        case Progress(progress=value, total=total, message=message):
            progress: JsonObject = {"progress": value}
            if total is not None:
                progress["total"] = total
            if message is not None:
                progress["message"] = message
            return {"text": "", "progress": progress}
        case Log(level=level, text=text, logger=logger):
            line: JsonObject = {"level": level, "text": text}
            if logger is not None:
                line["logger"] = logger
            return {"text": "", "log": line}
        case Paused(retry_after_s=retry_after_s):
            return {"text": "", "pause": {} if retry_after_s is None else {"retry_after_s": retry_after_s}}
        case _:
            return None
