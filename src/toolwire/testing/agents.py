"""Runs the tools of an `Agent` where there is no gateway; it checks no arguments that the agent does not check itself.

    answered = Harness(agent).call("web_search", query="otters")
    assert answered.text == "3 results"
    assert answered.said == ("searching …",)

In an async test: `answered = await Harness(agent).acall(…)`.
"""

import math
from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from typing import Any, Final

import anyio
from msgspec import Struct

from toolwire.agent.agent import Agent
from toolwire.agent.answer import answer_of
from toolwire.agent.context import DELTA, Inbound
from toolwire.agent.files import AttachedFile, NewFile
from toolwire.agent.journal import Answer
from toolwire.core.event import Log, Progress
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import Result
from toolwire.sdk.result import ToolError
from toolwire.wire.link import Message

_WRITTEN_AT: Final = "2026-01-01T00:00:00.000Z"


class Answered(Struct, frozen=True):
    """What became of a call.

    Attributes:
        result: what the tool made of it.
        reply: what goes to the channel for that: its `type` and `payload`.
        said: the texts of `ctx.say`.
        progress: the values and messages of `ctx.progress`.
        logged: what `ctx.log` was told.
    """

    result: Result
    reply: Answer
    said: tuple[str, ...]
    progress: tuple[Progress, ...]
    logged: tuple[Log, ...] = ()

    @property
    def text(self) -> str:
        """The text of the answer, also of one that says what went wrong."""
        return str(self.reply.payload["text"])

    @property
    def is_error(self) -> bool:
        """Whether the call ended badly."""
        return self.result.is_error


class Harness:
    """An agent on a bench: the same choice of a tool, the same context and the same replies as behind a gateway.

    Args:
        agent: whose tools are called.
        history: what `ctx.history()` finds, the oldest first: payloads, of which one with "message" was said to the
            agent and any other by it.
        attachments: what `ctx.attachments` holds: objects with a `file_id` and whatever else is known; the content is
            `data`, as bytes.
        deadline: `ctx.deadline`, in Unix seconds.

    Attributes:
        files: by name, the contents that tools have given to `ctx.file`.
    """

    def __init__(
        self,
        agent: Agent,
        *,
        history: Iterable[JsonObject] = (),
        attachments: Iterable[JsonObject] = (),
        deadline: float = math.inf,
    ) -> None:
        self._agent = agent
        self._channel_id = new_id("ch")
        self._attachments = list(attachments)
        self.files: dict[str, bytes] = {}
        self._deadline = deadline
        self._rows = tuple(
            self._row(offset, "chat_message" if "message" in payload else "agent_reply", payload)
            for offset, payload in enumerate(history, 1)
        )

    def call(self, tool: str, /, **arguments: Any) -> Answered:
        """Call a tool and wait for its end, in a plain test function.

        Raises:
            RuntimeError: an event loop is at work already; use `acall`.
        """
        return self._outside_a_loop({"tool": {"name": tool, "arguments": arguments}}, "acall")

    async def acall(self, tool: str, /, **arguments: Any) -> Answered:
        """Call a tool and wait for its end, in an async test function.

        Cancellation: as of a call that its caller cancels.
        """
        return await self._answered({"message": tool, "tool": {"name": tool, "arguments": arguments}})

    def message(self, text: str) -> Answered:
        """Send a plain message, in a plain test function.

        Raises:
            RuntimeError: an event loop is at work already; use `amessage`.
        """
        return self._outside_a_loop({"message": text}, "amessage")

    async def amessage(self, text: str) -> Answered:
        """Send a plain message, in an async test function."""
        return await self._answered({"message": text})

    def _outside_a_loop(self, payload: JsonObject, instead: str) -> Answered:
        try:
            anyio.get_current_task()
        except anyio.NoEventLoopError:
            return anyio.run(self._answered, payload)
        raise RuntimeError(f"an event loop is at work here already: use `await harness.{instead}(…)`")

    async def _answered(self, payload: JsonObject) -> Answered:
        shown = [{name: value for name, value in file.items() if name != "data"} for file in self._attachments]
        payload = {**payload, "attachments": shown}
        if self._deadline != math.inf:
            payload["metadata"] = {"deadline": self._deadline}
        message = self._row(len(self._rows) + 1, "chat_message", payload)
        contents = {str(file["file_id"]): bytes(file["data"]) for file in self._attachments if "data" in file}
        bench = _Bench(self._rows, _BenchFiles(contents, self.files))
        inbound = Inbound(message, bench)
        try:
            async with self._agent.opened():
                result = await self._agent.choose(message).answer(inbound)
        finally:
            inbound.stop()
        return Answered(result, answer_of(result), tuple(bench.said), tuple(bench.progress), tuple(bench.logged))

    def _row(self, offset: int, type: str, payload: JsonObject) -> Message:
        publisher = "agent" if type == "agent_reply" else "gateway"
        return Message(new_id("msg"), self._channel_id, offset, type, payload, publisher, _WRITTEN_AT)


class _Bench:
    """The channel of a harness: keeps what is said on it."""

    def __init__(self, rows: tuple[Message, ...], files: "_BenchFiles") -> None:
        self.files = files
        self.said: list[str] = []
        self.progress: list[Progress] = []
        self.logged: list[Log] = []
        self._rows = rows

    def publish_delta(self, message: Message, payload: JsonObject) -> None:
        told, line = payload.get("progress"), payload.get("log")
        if line is not None:
            self.logged.append(Log(line["level"], line["text"], line.get("logger")))
        elif told is not None:
            self.progress.append(Progress(told["progress"], told.get("total"), told.get("message")))
        elif len(payload) == 1:
            self.said.append(payload["text"])

    def ask(self, message: Message, type: str, payload: JsonObject, question_id: str) -> None:
        """Nobody can be asked at a bench."""

    def heard_early(self, question_id: str) -> None:
        """Nobody answers, either."""

    def asks_no_more(self, question_id: str) -> None:
        """Nothing was asked."""

    def rest(self, message: Message) -> None:
        """One message is at work at a time."""

    def wake(self, message: Message) -> None:
        """One message is at work at a time."""

    async def room(self) -> None:
        return

    async def read(self, channel_id: str, since: int, limit: int) -> tuple[Message, ...]:
        return tuple(row for row in self._rows if row.offset > since and row.type != DELTA)[:limit]


class _BenchFiles:
    """The files of a harness: what came along, by id, and what was returned, by name."""

    def __init__(self, contents: dict[str, bytes], returned: dict[str, bytes]) -> None:
        self._contents = contents
        self._returned = returned

    async def stream(self, file: AttachedFile) -> AsyncGenerator[bytes]:
        if file.file_id not in self._contents:
            raise ToolError(f"the file {file.file_id!r} has no content here; give the harness its `data`")
        yield self._contents[file.file_id]

    async def add(self, new: NewFile, pieces: AsyncIterable[bytes]) -> str:
        self._returned[new.filename] = b"".join([piece async for piece in pieces])
        return new_id("file")
