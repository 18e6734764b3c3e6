"""Workers: so many turns at once, taken from a line, and the turns that a dead owner left; they decide nothing."""

import logging
from collections import deque

import anyio
from anyio.abc import TaskGroup

from toolwire.core.errors import ToolwireError
from toolwire.sdk.errors import AgentError
from toolwire.sdk.turns.runner import Runner, SeededTurn

LOGGER = logging.getLogger("toolwire.sdk")


class Line:
    """Turns that wait for a worker, the oldest first."""

    def __init__(self) -> None:
        self._turns: deque[SeededTurn] = deque()
        self._bell = anyio.Event()

    def put(self, turn: SeededTurn) -> None:
        """Add a turn; on the event loop."""
        self._turns.append(turn)
        self._bell.set()

    async def take(self) -> SeededTurn:
        """The oldest turn, as soon as there is one."""
        while not self._turns:
            if self._bell.is_set():
                self._bell = anyio.Event()
            await self._bell.wait()
        return self._turns.popleft()


class Workers:
    """A number of workers on one runner, until they are stopped."""

    def __init__(self, runner: Runner, line: Line, sweep_s: float) -> None:
        self._runner = runner
        self._line = line
        self._sweep_s = sweep_s
        self._scope = anyio.CancelScope()
        self._stopping = False
        self._at_work = 0
        self._ended = anyio.Event()
        self._one_done = anyio.Event()

    def work(self, number: int, task_group: TaskGroup) -> None:
        """Have `number` workers in `task_group`, and look after dead owners' turns."""
        task_group.start_soon(self._serve, number)

    async def stop(self, timeout_s: float | None) -> bool:
        """Take no more turns; wait for those under way, for so long. False when some had to be interrupted."""
        self._stopping = True
        with anyio.move_on_after(timeout_s):
            while self._at_work:
                self._one_done = anyio.Event()
                await self._one_done.wait()
        in_time = self._at_work == 0
        self._scope.cancel()
        await self._ended.wait()
        return in_time

    async def _serve(self, number: int) -> None:
        try:
            with self._scope:
                async with anyio.create_task_group() as group:
                    for _ in range(number):
                        group.start_soon(self._worker)
                    group.start_soon(self._sweeper)
        finally:
            self._ended.set()

    async def _worker(self) -> None:
        while not self._stopping:
            seeded = await self._line.take()
            if self._stopping:
                self._line.put(seeded)
                return
            self._at_work += 1
            try:
                task = await self._runner.host.find(seeded.task_id)
                await self._runner.drive(task)
            except (AgentError, ToolwireError) as error:
                LOGGER.warning("task %s could not be driven: %s", seeded.task_id, error)
            finally:
                self._done()

    def _done(self) -> None:
        self._at_work -= 1
        self._one_done.set()

    async def _sweeper(self) -> None:
        """Resume, one after the other, what its owner left running."""
        runner = self._runner
        while not self._stopping:
            try:
                left = await runner.host.left_running()
            except ToolwireError as error:
                LOGGER.warning("cannot look for turns that were left: %s", error)
                left = []
            for task_id, lease, _ in left:
                if lease.agent_name != runner.agent.options.name:
                    continue
                self._at_work += 1
                try:
                    await runner.resume(task_id)
                except (AgentError, ToolwireError) as error:
                    LOGGER.warning("task %s could not be resumed: %s", task_id, error)
                finally:
                    self._done()
            await anyio.sleep(self._sweep_s)
