"""What a tool's body is given besides its arguments; it does not know how the call came in or where events go."""

import logging
import math
import threading
from collections.abc import Awaitable, Generator, Mapping, MutableMapping, Sequence
from typing import Any, Literal, Self, TypeVar, overload

import anyio

from toolwire.core.asking import NobodyToAsk, asker_of, is_declared, require, required
from toolwire.core.call import Call
from toolwire.core.event import Answered, Asks, Chunk, Event, Log, Paused, Progress
from toolwire.core.handler import Emit
from toolwire.core.jsontypes import JsonObject
from toolwire.core.prompt import PromptMessage
from toolwire.core.result import Text
from toolwire.core.tasking import task_maker_of
from toolwire.sdk.asking import Ask, AskForm, AskModel, AskPage, AskRoots, Elicited, Root, Sampled, checker, outcome_of
from toolwire.sdk.content import ContentStore, MemoryContentStore
from toolwire.sdk.encode import clean_text

LOGGER = logging.getLogger("toolwire.tool")

_T = TypeVar("_T")

_DAY_S = 86_400
_LEVELS = {
    logging.CRITICAL: "critical",
    logging.ERROR: "error",
    logging.WARNING: "warning",
    logging.INFO: "info",
}


class ToolContext:
    """The surroundings of one call.

    Made by the runtime for each call; made by hand it keeps content in memory, has no deadline and its events go
    nowhere, which is what a unit test of a tool wants.

    Attributes:
        artifact_store: where large or binary content goes (sdk.md 14).
        metadata: strings about the call: `task_id`, `root_task_id`, `trace_id`, `tool_use_id`.
        deadline: Unix seconds, UTC, after which nobody waits for the result; infinity when there is none.
        call_id: the call's id, which also names it in logs; "" for a context made by hand.
    """

    def __init__(
        self,
        artifact_store: ContentStore | None = None,
        metadata: Mapping[str, Any] | None = None,
        deadline: float = math.inf,
        *,
        call_id: str = "",
        emit: Emit | None = None,
        client_capabilities: JsonObject | None = None,
    ) -> None:
        self.artifact_store: ContentStore = MemoryContentStore() if artifact_store is None else artifact_store
        self.metadata: dict[str, Any] = dict(metadata or {})
        self.deadline = deadline
        self.call_id = call_id
        self._emit = emit
        self._last: float = -math.inf
        self._abandoned = False
        self._log: CallLog | None = None
        self._client: JsonObject = client_capabilities or {}
        self._asked = 0
        self._thread = threading.get_ident()
        self._loop = None if emit is None else anyio.lowlevel.current_token()

    @classmethod
    def for_call(cls, call: Call, emit: Emit) -> Self:
        """The context of `call`; a subclass adds its own parts here."""
        metadata = {
            "task_id": call.id,
            "root_task_id": call.parent or call.id,
            "trace_id": call.parent or call.id,
            "tool_use_id": call.id,
        }
        made = cls(metadata=metadata, deadline=call.done_by, call_id=call.id, emit=emit)
        made._client = call.client_capabilities or made._client
        return made

    @property
    def cancelled(self) -> bool:
        """Whether nobody wants the result any more: stop as soon as you can."""
        if self._abandoned:
            return True
        if self._loop is None or threading.get_ident() != self._thread:
            return False
        return anyio.current_effective_deadline() == -math.inf

    def client_can(self, capability: str) -> bool:
        """Whether the client has declared a capability, such as "sampling" or "elicitation.url"."""
        return is_declared(self._client, capability)

    def require_client(self, *capabilities: str) -> None:
        """Refuse the call unless the client has declared all of these, such as "sampling" or "elicitation.url".

        Raises:
            MissingCapability: it has not; let it out, and the client is told which it needs (mcp.md 1.2, −32021).
        """
        require(self._client, capabilities)

    @overload
    async def elicit(self, message: str, schema: type[_T], *, key: str = "") -> Elicited[_T]: ...
    @overload
    async def elicit(self, message: str, schema: JsonObject, *, key: str = "") -> Elicited[JsonObject]: ...
    async def elicit(self, message: str, schema: Any, *, key: str = "") -> Elicited[Any]:
        """Ask the person behind the client to fill in a form.

        Args:
            message: what it is for.
            schema: a dataclass, a TypedDict, a Struct or a schema; its fields are texts, numbers, yes or no, choices.
            key: names the question within the call; by default its number.

        Raises:
            TypeError: a form cannot show that schema.
            MissingCapability, Declined, UnfitAnswer, ValueError: as `ask_all`.
        """
        return await self._ask_one(AskForm[Any](message, schema), key)

    async def elicit_url(self, message: str, url: str, *, key: str = "", sign_in: bool = False) -> Elicited[None]:
        """Ask the person behind the client to visit a page, for what must not pass through the client.

        Accepted means that the person agreed to; what happens on the page is for the page to know. When it is done
        there, `page_done` says so.

        Args:
            message: why.
            url: the page.
            key: names the question within the call; by default its number.
            sign_in: a person is to sign in there: a task that waits for that is `auth_required` over REST.

        Raises:
            MissingCapability, Declined, UnfitAnswer, ValueError: as `ask_all`; the URL is not one of the web.
        """
        return await self._ask_one(AskPage(message, url, sign_in=sign_in), key)

    async def become_task(self) -> None:
        """Let the client have a task instead of an answer, and go on as that; for a tool with `task="later"`.

        What the body asks before, the client is asked before there is a task. Anywhere else nothing happens.

        Raises:
            StoreUnavailable: the task cannot be committed.
        """
        make_task = None if self._emit is None else task_maker_of(self._emit)
        if make_task is not None:
            self.deadline = await make_task()

    def page_done(self, visit: Elicited[None]) -> None:
        """Tell the client that the page of `elicit_url` has done its work, where a client can be told that."""
        asker = None if self._emit is None else asker_of(self._emit)
        if asker is not None:
            asker.complete(visit.key)

    async def sample(
        self,
        messages: str | Sequence[PromptMessage | JsonObject],
        max_tokens: int = 1000,
        *,
        system: str | None = None,
        tools: Sequence[Any] = (),
        tool_choice: Literal["auto", "required", "none"] | None = None,
        key: str = "",
    ) -> Sampled:
        """Ask the client's model; `toolwire.sdk.asking.AskModel` takes more options.

        Raises:
            TypeError: a message or a tool is none.
            MissingCapability, Declined, UnfitAnswer, ValueError: as `ask_all`.
        """
        asked = AskModel(messages, max_tokens, system=system, tools=tools, tool_choice=tool_choice)
        return await self._ask_one(asked, key)

    async def roots(self, *, key: str = "") -> tuple[Root, ...]:
        """The folders that the client's user works in.

        Raises:
            MissingCapability, Declined, UnfitAnswer, ValueError: as `ask_all`.
        """
        return await self._ask_one(AskRoots(), key)

    async def ask_all(self, asks: Mapping[str, Ask[Any]]) -> dict[str, Any]:
        """Ask several things at once and wait for all answers.

        Args:
            asks: by key, any of `AskForm`, `AskPage`, `AskModel` and `AskRoots`.

        Returns:
            By key, what the single methods would have given.

        Raises:
            MissingCapability: the client has not declared that it can be asked so, or there is none.
            Declined: the client answered with an error.
            UnfitAnswer: it answered something else, on a wire where it cannot be asked again.
            ValueError: a key was used before in this call.
        """
        questions = [ask.question(key) for key, ask in asks.items()]
        needs = [need for question in questions for need in question.needs]
        asker = None if self._emit is None else asker_of(self._emit)
        if asker is None:
            words = ", ".join(repr(need) for need in dict.fromkeys(needs))
            raise NobodyToAsk(
                f"nobody behind this call can be asked: no client has declared {words}",
                requiredCapabilities=required(needs),
            )
        require(asker.can, needs)
        self._send(Asks(tuple(questions)))
        given = await asker.ask(questions, checker(asks))
        self._client, self.deadline = asker.can, asker.deadline
        answers = {key: ask.read(given[key], key) for key, ask in asks.items()}
        self._send(Answered({key: outcome_of(answer) for key, answer in answers.items()}))
        return answers

    def wait(self, asked: Awaitable[_T]) -> _T:
        """For the body of a plain `def`: wait for what one of the methods above gives, such as `ctx.roots()`.

        Raises:
            RuntimeError: the body is an `async def`, or runs inline; write `await` there.
        """

        async def ask() -> _T:
            return await asked

        if self._loop is None or threading.get_ident() == self._thread:
            raise RuntimeError("ctx.wait() is for the thread of a plain `def`; write `await` in an `async def`")
        return anyio.from_thread.run(ask, token=self._loop)

    async def _ask_one(self, ask: Ask[_T], key: str) -> _T:
        self._asked += 1
        key = key or f"question_{self._asked}"
        return (await self.ask_all({key: ask}))[key]

    @property
    def log(self) -> "CallLog":
        """A logger whose lines also go to the call's record, and to the client if it asked for them."""
        if self._log is None:
            self._log = CallLog(self.call_id, self._send)
        return self._log

    def progress(self, message: str, value: float | None = None, total: float | None = None) -> Awaitable[None]:
        """Tell how far the work is; awaiting the answer is optional and lets other tasks run.

        Args:
            message: a short line for people.
            value: how far; it must rise, so one that would not is replaced by the last one plus one.
            total: the value at the end, when it is known.

        Raises:
            TypeError: `value` or `total` is not a number.
        """
        number = self._next(value)
        self._send(Progress(number, _number(total, "total"), clean_text(str(message))))
        return _PAUSE

    def say(self, text: str) -> Awaitable[None]:
        """Send a part of the answer ahead of the whole; awaiting it is optional and lets other tasks run."""
        self._next(None)
        self._send(Chunk(Text(clean_text(str(text)))))
        return _PAUSE

    def close_stream(self, retry_after_s: float | None = None) -> Awaitable[None]:
        """Let the client hang up while the work goes on: it comes back for the rest, in `retry_after_s` seconds.

        For work that takes long, so that no connection is held open for it. It means something to clients of 2025-11-25
        over HTTP alone; for all others nothing changes. Awaiting it is optional and lets other tasks run.

        Raises:
            ValueError: `retry_after_s` is no number of seconds from 0 to a day.
        """
        if retry_after_s is not None and not 0 <= retry_after_s <= _DAY_S:
            raise ValueError(f"retry_after_s is {retry_after_s!r}; give seconds from 0 to {_DAY_S}")
        self._send(Paused(retry_after_s))
        return _PAUSE

    def abandon(self) -> None:
        """For the runtime: the call is over, whatever the body does; its later events are dropped."""
        self._abandoned = True

    def _next(self, value: float | None) -> float:
        """`say` and `progress` share this one counter (gateway.md §6, "Answers")."""
        wanted = _number(value, "value")
        after = 1 if self._last == -math.inf else self._last + 1
        self._last = wanted if wanted is not None and wanted > self._last else after
        return self._last

    def _send(self, event: Event) -> None:
        emit = self._emit
        if emit is None or self._abandoned:
            return
        if threading.get_ident() == self._thread:
            emit(event)
            return
        try:
            anyio.from_thread.run_sync(emit, event, token=self._loop)
        except anyio.RunFinishedError:
            self._abandoned = True


class CallLog(logging.LoggerAdapter[logging.Logger]):
    """The logger of one call: every line is an event of the call and a record of the logger `toolwire.tool`."""

    def __init__(self, call_id: str, send: Emit) -> None:
        super().__init__(LOGGER, {"call_id": call_id})
        self._send = send

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """Name the call in the record, beside the `extra` that the author gave."""
        kwargs["extra"] = {**dict(self.extra or {}), **(kwargs.get("extra") or {})}
        return msg, kwargs

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        """Emit the line and log it; a traceback goes to the log only."""
        text = _formatted(msg, args)
        self._send(Log(_level_name(level), clean_text(text), self.logger.name))
        kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 1
        super().log(level, "%s", text, **kwargs)


class _Pause:
    """Awaitable as often as wanted, and harmless when it is not awaited, unlike a coroutine."""

    def __await__(self) -> Generator[Any, Any, None]:
        return anyio.lowlevel.checkpoint().__await__()


_PAUSE = _Pause()


def _formatted(msg: object, args: tuple[object, ...]) -> str:
    text = str(msg)
    if not args:
        return text
    try:
        return text % args
    except (TypeError, ValueError):
        return f"{text} {args!r}"


def _level_name(level: int) -> str:
    for floor, name in _LEVELS.items():
        if level >= floor:
            return name
    return "debug"


def _number(value: float | None, what: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):  # pyright: ignore[reportUnnecessaryIsInstance] -- authors do not all check types
        raise TypeError(f"progress({what}) must be a number, got {type(value).__name__}")
    return value if math.isfinite(value) else None
