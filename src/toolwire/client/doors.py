"""The two ways to a host, one that waits and one to await, and the methods that both share; it knows no route.

A method of a `Group` is written once and says what is asked. `Method`, `Stream` and `Pieces` hand that to the group's
door, so that its answer comes at once from a `SyncDoor` and is awaited from an `AsyncDoor`.
"""

import functools
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Concatenate, Final, Generic, ParamSpec, TypeVar, overload
from urllib.parse import urlsplit, urlunsplit

import anyio
import httpx2

from toolwire.client.asks import API, ApiError, Ask, Flow, Reply, Watch, refusal_of
from toolwire.client.contents import Pull, Pulling, sent_by_awaiting, sent_by_waiting
from toolwire.client.events import Reading
from toolwire.client.exchange import Lost, Pause, pause_before, steps_of

P = ParamSpec("P")
T = TypeVar("T")
D = TypeVar("D", bound="SyncDoor | AsyncDoor")

CONNECT_S: Final = 10.0
TRIES: Final = 3
_USER_AGENT: Final = "toolwire-client"


class Rules:
    """What both doors are told.

    Args:
        url: the host's address.
        key: an `oag_`, `bak_` or `agk_` key.
        timeout_s: how long a host may say nothing.
        tries: how often an idempotent request is sent at most.
    """

    def __init__(self, url: str, key: str, timeout_s: float, tries: int) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is no address of a host; give one such as http://127.0.0.1:8094")
        if tries < 1:
            raise ValueError(f"tries is {tries!r}; a request is sent at least once")
        self._parts = parts
        self._key = key
        self.tries = tries
        self.timeout = httpx2.Timeout(timeout_s, connect=CONNECT_S)
        self.trust_env = parts.hostname not in ("localhost", "127.0.0.1", "::1")

    def request(self, ask: Ask[Any]) -> dict[str, Any]:
        """A request in httpx2's words. A signed address is reached at the host that was named here."""
        headers = {"user-agent": _USER_AGENT, **ask.headers}
        path, query = ask.path, ""
        if ask.signed:
            there = urlsplit(ask.path)
            path, query = there.path[there.path.find(API) :], there.query
        else:
            headers["authorization"] = f"Bearer {self._key}"
        url = urlunsplit((self._parts.scheme, self._parts.netloc, self._parts.path.rstrip("/") + path, query, ""))
        words: dict[str, Any] = {"method": ask.method, "url": url, "headers": headers}
        return words | ({"params": dict(ask.query)} if ask.query else {})


class SyncDoor:
    """Answers when it has the answer."""

    def __init__(self, rules: Rules, transport: httpx2.BaseTransport | None = None) -> None:
        self._rules = rules
        self._http = httpx2.Client(timeout=rules.timeout, trust_env=rules.trust_env, transport=transport)

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def answer(self, wanted: Ask[T] | Flow[T]) -> T:
        """Have an answer."""
        steps = steps_of(wanted, self._rules.tries)
        reply: Reply | Lost | None = None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as end:
                return end.value
            if isinstance(step, Pause):
                time.sleep(step.seconds)
                reply = None
                continue
            try:
                content = sent_by_waiting(step.ask.content)
                reply = _reply(self._http.request(**self._rules.request(step.ask), content=content))
            except httpx2.TransportError as error:
                reply = Lost(_reason(error))

    def watch(self, wanted: Watch[T]) -> Iterator[T]:
        """Read a stream of events."""
        reading, attempt = Reading(wanted), 0
        while not reading.is_over:
            reason = "the stream ended too early"
            try:
                ask = reading.again()
                with self._http.stream(**self._rules.request(ask), content=ask.content) as response:
                    if response.status_code != 200:
                        response.read()
                        raise refusal_of(_reply(response))
                    for piece in response.iter_bytes():
                        yield from reading.feed(piece)
            except httpx2.TransportError as error:
                reason = _reason(error)
            if not reading.is_over:
                attempt = 1 if reading.has_read else attempt + 1
                time.sleep(_pause_s(reading.resumable, attempt, self._rules.tries, reason))

    def pull(self, wanted: Pull) -> Iterator[bytes]:
        """Read a content in pieces."""
        pulling, attempt = Pulling(wanted), 0
        while not pulling.is_over:
            ask = pulling.again(self.answer(pulling.where))
            reason = "the content ended too early"
            try:
                with self._http.stream(**self._rules.request(ask)) as response:
                    if response.status_code >= 300:
                        response.read()
                        raise refusal_of(_reply(response))
                    pulling.check(response.status_code)
                    for piece in response.iter_bytes():
                        yield pulling.take(piece)
            except httpx2.TransportError as error:
                reason = _reason(error)
            if not pulling.is_over:
                attempt = 1 if pulling.has_read else attempt + 1
                time.sleep(_pause_s(True, attempt, self._rules.tries, reason))


class AsyncDoor:
    """Answers when it is awaited, on asyncio and trio."""

    def __init__(self, rules: Rules, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._rules = rules
        self._http = httpx2.AsyncClient(timeout=rules.timeout, trust_env=rules.trust_env, transport=transport)

    async def close(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    async def answer(self, wanted: Ask[T] | Flow[T]) -> T:
        """Have an answer."""
        steps = steps_of(wanted, self._rules.tries)
        reply: Reply | Lost | None = None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as end:
                return end.value
            if isinstance(step, Pause):
                await anyio.sleep(step.seconds)
                reply = None
                continue
            try:
                content = sent_by_awaiting(step.ask.content)
                reply = _reply(await self._http.request(**self._rules.request(step.ask), content=content))
            except httpx2.TransportError as error:
                reply = Lost(_reason(error))

    async def watch(self, wanted: Watch[T]) -> AsyncIterator[T]:
        """Read a stream of events."""
        reading, attempt = Reading(wanted), 0
        while not reading.is_over:
            reason = "the stream ended too early"
            try:
                ask = reading.again()
                async with self._http.stream(**self._rules.request(ask), content=ask.content) as response:
                    if response.status_code != 200:
                        await response.aread()
                        raise refusal_of(_reply(response))
                    async for piece in response.aiter_bytes():
                        for event in reading.feed(piece):
                            yield event
            except httpx2.TransportError as error:
                reason = _reason(error)
            if not reading.is_over:
                attempt = 1 if reading.has_read else attempt + 1
                await anyio.sleep(_pause_s(reading.resumable, attempt, self._rules.tries, reason))

    async def pull(self, wanted: Pull) -> AsyncIterator[bytes]:
        """Read a content in pieces."""
        pulling, attempt = Pulling(wanted), 0
        while not pulling.is_over:
            ask = pulling.again(await self.answer(pulling.where))
            reason = "the content ended too early"
            try:
                async with self._http.stream(**self._rules.request(ask)) as response:
                    if response.status_code >= 300:
                        await response.aread()
                        raise refusal_of(_reply(response))
                    pulling.check(response.status_code)
                    async for piece in response.aiter_bytes():
                        yield pulling.take(piece)
            except httpx2.TransportError as error:
                reason = _reason(error)
            if not pulling.is_over:
                attempt = 1 if pulling.has_read else attempt + 1
                await anyio.sleep(_pause_s(True, attempt, self._rules.tries, reason))


class Group(Generic[D]):
    """Methods that belong together, behind one door."""

    def __init__(self, door: D) -> None:
        self.door = door


class Method(Generic[P, T]):
    """A method of a group that says what it asks; calling it gives the answer, or what is awaited for it."""

    def __init__(self, make: Callable[Concatenate[Any, P], Ask[T] | Flow[T]]) -> None:
        self._make = make
        functools.update_wrapper(self, make)  # pyright: ignore[reportArgumentType] - for `help()`

    @overload
    def __get__(self, group: None, owner: Any) -> "Method[P, T]": ...

    @overload
    def __get__(self, group: Group[SyncDoor], owner: Any) -> Callable[P, T]: ...

    @overload
    def __get__(self, group: Group[AsyncDoor], owner: Any) -> Callable[P, Coroutine[Any, Any, T]]: ...

    def __get__(self, group: Any, owner: Any) -> Any:
        """The method of one group."""
        if group is None:
            return self

        @functools.wraps(self._make)
        def bound(*args: P.args, **kwargs: P.kwargs) -> Any:
            return group.door.answer(self._make(group, *args, **kwargs))

        return bound


class Stream(Generic[P, T]):
    """As `Method`, for a stream of events: an iterator, or an asynchronous one."""

    def __init__(self, make: Callable[Concatenate[Any, P], Watch[T]]) -> None:
        self._make = make
        functools.update_wrapper(self, make)  # pyright: ignore[reportArgumentType] - for `help()`

    @overload
    def __get__(self, group: None, owner: Any) -> "Stream[P, T]": ...

    @overload
    def __get__(self, group: Group[SyncDoor], owner: Any) -> Callable[P, Iterator[T]]: ...

    @overload
    def __get__(self, group: Group[AsyncDoor], owner: Any) -> Callable[P, AsyncIterator[T]]: ...

    def __get__(self, group: Any, owner: Any) -> Any:
        """The stream of one group."""
        if group is None:
            return self

        @functools.wraps(self._make)
        def bound(*args: P.args, **kwargs: P.kwargs) -> Any:
            return group.door.watch(self._make(group, *args, **kwargs))

        return bound


class Pieces(Generic[P]):
    """As `Method`, for a content in pieces: an iterator, or an asynchronous one."""

    def __init__(self, make: Callable[Concatenate[Any, P], Pull]) -> None:
        self._make = make
        functools.update_wrapper(self, make)  # pyright: ignore[reportArgumentType] - for `help()`

    @overload
    def __get__(self, group: None, owner: Any) -> "Pieces[P]": ...

    @overload
    def __get__(self, group: Group[SyncDoor], owner: Any) -> Callable[P, Iterator[bytes]]: ...

    @overload
    def __get__(self, group: Group[AsyncDoor], owner: Any) -> Callable[P, AsyncIterator[bytes]]: ...

    def __get__(self, group: Any, owner: Any) -> Any:
        """The pieces of one group."""
        if group is None:
            return self

        @functools.wraps(self._make)
        def bound(*args: P.args, **kwargs: P.kwargs) -> Any:
            return group.door.pull(self._make(group, *args, **kwargs))

        return bound


def _pause_s(resumable: bool, attempt: int, tries: int, reason: str) -> float:
    """How long to wait before a stream that has broken off is asked for once more.

    Raises:
        ApiError: it cannot be, or it has been often enough.
    """
    error = ApiError(f"the stream broke off: {reason}", "no_answer")
    pause_s = pause_before(attempt, error)
    if not resumable or attempt >= tries or pause_s is None:
        raise error
    return pause_s


def _reply(response: httpx2.Response) -> Reply:
    return Reply(response.status_code, dict(response.headers), response.content)


def _reason(error: httpx2.TransportError) -> str:
    return str(error) or type(error).__name__
