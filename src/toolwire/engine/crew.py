"""Tasks that claim, run and end one call after the other; what these three are is the engine's to say (`Steps`).

A call under a key goes on without its request, so it needs a task and a scope of its own. To make both for each call
costs more than all that is done in them, so a member of the crew keeps its task and its scope for the next call. A call
that runs an author's code gets a member of its own, for code may leave something behind in its task.
"""

from collections.abc import Sequence
from types import TracebackType
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from toolwire.core.handler import Handler
from toolwire.core.ports import Op
from toolwire.core.result import Result
from toolwire.engine.claims import Claim
from toolwire.engine.record import Record
from toolwire.engine.signal import Signal

MAX_IDLE = 256
"""Members that wait for a call; beyond that they go home."""


class Work:
    """One call for the crew.

    Attributes:
        ops: what claims it.
        claim: what its key stands for then, and `scope` where that lies; neither has a call without a key.
        refusal: why it could not be claimed.
        result: what its handler said, if it came to that.
    """

    __slots__ = ("claim", "handler", "ops", "record", "refusal", "result", "scope")

    def __init__(
        self, record: Record, handler: Handler, ops: Sequence[Op], claim: Claim | None = None, scope: str = ""
    ) -> None:
        self.record = record
        self.handler = handler
        self.ops = ops
        self.claim = claim
        self.scope = scope
        self.refusal: Exception | None = None
        self.result: Result | None = None


class Steps(Protocol):
    """What is done with a call. None of it raises, but for being cancelled where the guard does not forbid that."""

    def new_scope(self, *, shield: bool = False) -> anyio.CancelScope:
        """A cancel scope."""
        ...

    async def claim(self, work: Work, guard: "Member") -> bool:
        """Commit the claim; false says that there is none, and that this was the end of it."""
        ...

    async def handle(self, work: Work) -> None:
        """Run the handler, for `Work.result`."""
        ...

    def fail(self, work: Work, error: Exception) -> None:
        """The handler has raised."""
        ...

    async def end(self, work: Work, guard: "Member") -> None:
        """Commit the end, and tell it."""
        ...


class Member:
    """One task of the crew. As a context manager it puts off being cancelled until the block's end."""

    __slots__ = ("_cancelled", "_committing", "_crew", "_scope", "_wake", "_work")

    def __init__(self, crew: "Crew", work: Work) -> None:
        self._crew = crew
        self._work: Work | None = work
        self._scope: anyio.CancelScope | None = None
        self._wake: Signal | None = None
        self._committing = self._cancelled = False

    def __enter__(self) -> None:
        self._committing = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._committing = False
        if self._cancelled and self._scope is not None:
            self._scope.cancel()

    def take(self, work: Work) -> None:
        """Go on with this call; only for a member that waits for one."""
        self._work = work
        if self._wake is not None:
            self._wake.set()

    def stop(self) -> None:
        """Cut off what is under way, and go home."""
        self._cancelled = True
        if self._wake is not None:
            self._wake.set()
        elif self._scope is not None and not self._committing:
            self._scope.cancel()

    async def serve(self, reused: bool) -> None:
        """Take one call after the other, or, if not `reused`, one."""
        steps = self._crew.steps
        unended: Work | None = None
        try:
            with steps.new_scope(shield=True) as scope:
                self._scope = scope
                while (work := self._work) is not None:
                    self._work = None
                    if await steps.claim(work, self):
                        unended = work
                        await self._handle(work, scope)
                        if scope.cancel_called:
                            break
                        unended = None
                        await steps.end(work, self)
                    del work  # it would keep the call alive while we wait for the next one
                    if reused and not self._cancelled:
                        await self._rest()
        except Exception as error:
            if unended is None:
                raise
            steps.fail(unended, error)  # a task of the handler's failed while the handler was cancelled
        if unended is not None:
            with steps.new_scope(shield=True) as self._scope:
                await steps.end(unended, self)
        self._crew.members.discard(self)

    async def _handle(self, work: Work, scope: anyio.CancelScope) -> None:
        record = work.record
        if scope.cancel_called or record.verdict is not None:
            return
        record.scope = scope
        try:
            await self._crew.steps.handle(work)
        finally:
            record.scope = None

    async def _rest(self) -> None:
        if not self._crew.rests(self):
            return
        self._wake = Signal()
        await self._wake.wait()
        self._wake = None


class Crew:
    """The members, at work and waiting.

    Args:
        tasks: where they live.
        steps: what they do.
    """

    def __init__(self, tasks: TaskGroup, steps: Steps) -> None:
        self._tasks = tasks
        self.steps = steps
        self.members: set[Member] = set()
        self._idle: list[Member] = []

    def take(self, work: Work, reuse: bool) -> None:
        """Have a call claimed, run and ended; with `reuse`, by a task that others have served in and will."""
        if reuse and self._idle:
            self._idle.pop().take(work)
            return
        member = Member(self, work)
        self.members.add(member)
        self._tasks.start_soon(member.serve, reuse)

    def rests(self, member: Member) -> bool:
        """A member has nothing to do; false says that it is not wanted any more."""
        if len(self._idle) >= MAX_IDLE:
            return False
        self._idle.append(member)
        return True

    def stop(self) -> None:
        """Cut off all calls, but no commit; nothing may be taken any more."""
        self._idle.clear()
        for member in tuple(self.members):
            member.stop()
