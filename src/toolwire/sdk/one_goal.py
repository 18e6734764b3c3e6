"""`query` and `aquery`: one goal, one answer, and every event on the way; what fails is in the result, not raised."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from toolwire.sdk.async_client import AsyncClient
from toolwire.sdk.client_core import GivenImage
from toolwire.sdk.errors import QueryFailedError
from toolwire.sdk.events import EventEnvelope
from toolwire.sdk.hosting.task import Task
from toolwire.sdk.loop_thread import LOOP_THREAD
from toolwire.sdk.messages import Provider, Usage
from toolwire.sdk.options import HostConfig, Options
from toolwire.sdk.turns.endings import approval_handle
from toolwire.sdk.views import ViewItem, view


class QueryResult(list[EventEnvelope]):
    """The events of a query, and what they come to.

    Attributes:
        task_id: whose events these are.
    """

    def __init__(self, task: Task) -> None:
        super().__init__(task.events)
        self.task_id = task.id
        self._task = task

    def answer(self) -> Any:
        """The answer: text, or a value that fits `Options.output_schema`.

        Raises:
            QueryFailedError: there is none; it says why.
        """
        task = self._task
        if task.status == "completed":
            return task.answer
        if task.failure is not None:
            failure = task.failure
            raise QueryFailedError(task.id, "failed", failure.reason, failure.retryable, failure.detail)
        if task.asked:
            handle = approval_handle(task.asked[0].use.call_id)
            reason = f"a tool call is waiting for approval ({handle!r}); pass Options.can_use_tool to decide on it"
            raise QueryFailedError(task.id, "suspended", reason)
        raise QueryFailedError(task.id, task.status, task.rest or task.status)

    def messages(self) -> list[ViewItem]:
        """The conversation, as people read it."""
        return view(self._task)

    def usage(self) -> Usage:
        """The tokens of all requests, and what they cost where prices are known."""
        return self._task.usage


class _OneGoal(AsyncClient):
    """A client for a single task; its storage stays open for a moment, for the next one."""

    async def ask(self, goal: str, images: Sequence[GivenImage]) -> Task:
        self._surroundings.linger = True
        outcome = await self.start(goal=goal, images=images)
        return await self._runner.host.find(outcome.task_id)


async def aquery(
    options: Options,
    goal: str,
    *,
    provider: Provider | None = None,
    workspace_dir: str | Path | None = None,
    model: str | None = None,
    images: Sequence[GivenImage] = (),
    host_config: HostConfig | None = None,
) -> QueryResult:
    """Do one goal.

    Args:
        options: what the agent is.
        goal: what is wanted.
        provider: the model, instead of `options.provider`.
        workspace_dir: where the agent works; by default the current directory.
        model: the model's name, instead of `options.model`.
        images: pictures that belong to the goal.
        host_config: what the query stands on; by default everything is in memory.

    Raises:
        KeyError, TypeError, ValueError: something in `options` cannot be.
        StoreUnavailable: the storage cannot be used.
    """
    client = _OneGoal(
        options,
        provider=provider,
        workspace_dir=workspace_dir,
        model=model,
        multi_turn=False,
        host_config=host_config,
    )
    try:
        return QueryResult(await client.ask(goal, images))
    finally:
        await client.aclose()


def query(
    options: Options,
    goal: str,
    *,
    provider: Provider | None = None,
    workspace_dir: str | Path | None = None,
    model: str | None = None,
    images: Sequence[GivenImage] = (),
    host_config: HostConfig | None = None,
) -> QueryResult:
    """Do one goal from synchronous code, beside a running event loop or without one. See `aquery`."""
    return LOOP_THREAD.run(
        lambda: aquery(
            options,
            goal,
            provider=provider,
            workspace_dir=workspace_dir,
            model=model,
            images=images,
            host_config=host_config,
        )
    )
