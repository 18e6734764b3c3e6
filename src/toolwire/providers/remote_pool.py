"""The sessions with one MCP server, one for each principal that calls it; what is called, it does not know.

A session is never shared between principals unless its owner says so: what a server keeps of one is not another's.
Clients of one principal that can be asked different things have sessions apart, because a server is told at the start
of a session what it may ask.
"""

import logging
import math
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Literal, TypeAlias

import anyio
from anyio.abc import TaskGroup
from msgspec import Struct

from toolwire.core.asking import AskMethod, asker_of, is_declared
from toolwire.core.call import Caller
from toolwire.core.change import Change
from toolwire.core.errors import ServiceUnavailable
from toolwire.core.handler import Emit
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.core.tasking import task_maker_of
from toolwire.providers.remote import RemoteProvider
from toolwire.providers.remote_lists import Shelf
from toolwire.providers.remote_scope import Scopes
from toolwire.providers.remote_server import NO_CALLBACKS, Ask, Callbacks, Patience, Server

LOGGER = logging.getLogger("toolwire.remote")

Sharing: TypeAlias = Literal["session", "principal", "everybody"]
"""Who has one session together: the calls of one session of ours, of one principal, or all."""


ServerOf: TypeAlias = Callable[[Caller], Server]
"""Where a caller finds the server, with its credentials; asked once for each session."""


class PoolRules(Struct, frozen=True):
    """Who has a session, and how many sessions there are.

    Attributes:
        sharing: who has one session together.
        most: sessions at once; one that is idle makes room, and a call is refused while none is.
        idle_s: after which a session without calls is closed.
        relay_logs: ask the server for log messages and pass them on to the call that they belong to.
    """

    sharing: Sharing = "principal"
    most: int = 64
    idle_s: float = 300.0
    relay_logs: bool = False


DEFAULT_RULES = PoolRules()


class RemotePool:
    """Sessions with one server, opened when they are needed.

    Args:
        server: where it is; or what says so for a caller, whose own credentials it may bear.
        tasks: where connections live; it must outlast the pool, and `aclose` must come before its end.
        name: what messages call the server.
        patience: how long to wait for it.
        rules: who has a session.
        trust_annotations: believe the server that a tool only reads.
        callbacks: answers what the client behind a call cannot be asked.
    """

    def __init__(
        self,
        server: Server | ServerOf,
        tasks: TaskGroup,
        name: str,
        patience: Patience | None = None,
        rules: PoolRules = DEFAULT_RULES,
        *,
        trust_annotations: bool = False,
        callbacks: Callbacks = NO_CALLBACKS,
    ) -> None:
        self.name = name
        self._server = server
        self._tasks = tasks
        self._patience = patience or Patience()
        self._rules = rules
        self._trusted = trust_annotations
        self._callbacks = callbacks
        self._members: dict[_Key, _Member] = {}
        self._shelf: Shelf = {}
        self._listeners: list[Callable[[Change], None]] = []
        self._over = anyio.Event()
        self._is_swept = False

    def __len__(self) -> int:
        return len(self._members)

    @property
    def connected(self) -> bool:
        """Whether one of the sessions is open now."""
        return any(member.provider.client is not None for member in self._members.values())

    def heard(self, listener: Callable[[Change], None]) -> None:
        """Tell `listener` from now on of what the server says to have changed; it must neither block nor raise."""
        self._listeners.append(listener)

    @asynccontextmanager
    async def lease(
        self, caller: Caller, emit: Emit | None = None, *, tasks: bool = False
    ) -> AsyncGenerator[RemoteProvider]:
        """The caller's session, for one call or request, which `emit` belongs to.

        With `tasks`, or where the client behind it takes one, the server may make a task of a call.

        Raises:
            ServiceUnavailable: every session that there may be is at work, or the pool is closed.
        """
        member = self._member(caller, emit, tasks)
        member.users += 1
        try:
            yield member.provider
        finally:
            member.users -= 1
            member.idle_since = anyio.current_time()

    async def aclose(self) -> None:
        """Close all sessions and wait until nothing is left of them; calls under way fail."""
        self._over.set()
        members = list(self._members.values())
        self._members.clear()
        async with anyio.create_task_group() as closing:
            for member in members:
                closing.start_soon(member.provider.aclose)

    def _member(self, caller: Caller, emit: Emit | None, tasks: bool) -> "_Member":
        if self._over.is_set():
            raise ServiceUnavailable(f"{self.name} is not available: its client was closed")
        asked = _what_can_be_asked(emit, tasks)
        key = (*self._whose(caller), *asked)
        member = self._members.get(key)
        if member is None:
            self._make_room()
            member = self._members[key] = self._opened(caller, asked)
            if not self._is_swept:
                self._is_swept = True
                self._tasks.start_soon(self._sweep)
        return member

    def _whose(self, caller: Caller) -> tuple[str, str, str]:
        match self._rules.sharing:
            case "everybody":
                return "", "", ""
            case "principal":
                return caller.owner, caller.principal, ""
            case "session":
                return caller.owner, caller.principal, caller.session_id or ""

    def _opened(self, caller: Caller, asked: "_Askable") -> "_Member":
        scopes = Scopes()
        provider = RemoteProvider(
            self._server(caller) if callable(self._server) else self._server,
            self._tasks,
            self.name,
            self._patience,
            self._trusted,
            self._answering(scopes, asked),
            scopes=scopes,
            shelf=self._shelf,
        )
        provider.heard(self._tell)
        return _Member(provider, anyio.current_time())

    def _answering(self, scopes: Scopes, asked: "_Askable") -> Callbacks:
        forms, sampling, roots, tasks = asked
        given = self._callbacks
        return Callbacks(
            elicit=_asking(scopes, "elicitation/create") if forms else given.elicit,
            sample=_asking(scopes, "sampling/createMessage") if sampling is not None else given.sample,
            roots=_asking(scopes, "roots/list") if roots else given.roots,
            log=_logging(scopes) if self._rules.relay_logs else given.log,
            log_level="debug" if self._rules.relay_logs else given.log_level,
            sampling=given.sampling if sampling is None else {name: {} for name in sampling},
            tasks=tasks or given.tasks,
        )

    def _make_room(self) -> None:
        if len(self._members) < self._rules.most:
            return
        idle = [key for key, member in self._members.items() if not member.users]
        if not idle:
            raise ServiceUnavailable(
                f"{self.name} is called by {len(self._members)} callers at once, as many as there may be; "
                "try again in a moment",
                retry_after_ms=1000,
            )
        self._drop(min(idle, key=lambda key: self._members[key].idle_since))

    def _drop(self, key: "_Key") -> None:
        self._tasks.start_soon(self._members.pop(key).provider.aclose)

    async def _sweep(self) -> None:
        """Close what has been idle for long, as long as there is something that may become so."""
        try:
            while self._members:
                now, next_s = anyio.current_time(), math.inf
                for key, member in tuple(self._members.items()):
                    left_s = self._rules.idle_s if member.users else member.idle_since + self._rules.idle_s - now
                    if left_s <= 0:
                        self._drop(key)
                    else:
                        next_s = min(next_s, left_s)
                if next_s != math.inf:
                    with anyio.move_on_after(next_s):
                        await self._over.wait()
        finally:
            self._is_swept = False

    def _tell(self, change: Change) -> None:
        for listener in self._listeners:
            listener(change)


_Askable: TypeAlias = tuple[bool, tuple[str, ...] | None, bool, bool]
"""What a client can be asked: to fill in forms, to sample (and what of that), for its roots; and to take tasks."""
_Key: TypeAlias = tuple[str, str, str, bool, tuple[str, ...] | None, bool, bool]


class _Member:
    __slots__ = ("idle_since", "provider", "users")

    def __init__(self, provider: RemoteProvider, now: float) -> None:
        self.provider = provider
        self.users = 0
        self.idle_since = now


def _what_can_be_asked(emit: Emit | None, tasks: bool) -> _Askable:
    tasks = tasks or (emit is not None and task_maker_of(emit) is not None)
    asker = None if emit is None else asker_of(emit)
    if asker is None:
        return False, None, False, tasks
    sampling = as_object(asker.can.get("sampling"))
    return (
        is_declared(asker.can, "elicitation") or is_declared(asker.can, "elicitation.url"),
        None if sampling is None else tuple(sorted({"tools", "context"} & sampling.keys())),
        is_declared(asker.can, "roots"),
        tasks,
    )


def _asking(scopes: Scopes, method: AskMethod) -> Ask:
    async def ask(params: JsonObject) -> JsonObject:
        scope = scopes.current()
        if scope is None:
            raise ServiceUnavailable("no call is under way whose client could be asked")
        return await scope.ask(method, params)

    return ask


def _logging(scopes: Scopes) -> Callable[[JsonObject], None]:
    def log(params: JsonObject) -> None:
        scope = scopes.current()
        if scope is not None:
            scope.log(params)

    return log


@asynccontextmanager
async def open_pool(
    server: Server | ServerOf,
    name: str,
    patience: Patience | None = None,
    rules: PoolRules = DEFAULT_RULES,
    *,
    callbacks: Callbacks = NO_CALLBACKS,
) -> AsyncGenerator[RemotePool]:
    """A pool, and nothing of it left after the block; the arguments are those of `RemotePool`."""
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        pool = RemotePool(server, tasks, name, patience, rules, callbacks=callbacks)
        try:
            yield pool
        except Exception as error:  # noqa: BLE001 -- raised below, where no group wraps it
            failure = error
        finally:
            await pool.aclose()
    if failure is not None:
        raise failure
