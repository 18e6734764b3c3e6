"""What the built-in tools of one client share: their settings, what each task has read, its shells, fetched pages.

It runs nothing itself.
"""

import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from toolwire.sdk.builtin.reads import FileReads
from toolwire.sdk.context import ToolContext

if TYPE_CHECKING:
    from toolwire.sdk.builtin.shells import Shells
    from toolwire.sdk.builtin.web.pages import Pages

Ask: TypeAlias = Callable[[str], Awaitable[str]]
"""Puts a text to a model and gives its answer; an exception means that there is none."""

MAX_TASKS = 1000
"""Tasks that are remembered; the one that was idle longest is forgotten first, and has to read its files again."""

MAX_OUTPUT_CHARS = 1_000_000
"""Characters that one call of Bash or BashOutput gives at most."""


class TaskState:
    """What the tools remember of one task between its calls.

    Attributes:
        reads: the files it has seen.
        cwd: where its next shell command starts; `None` for the workspace.
    """

    def __init__(self) -> None:
        self.reads = FileReads()
        self.cwd: str | None = None


class Services:
    """The surroundings of the built-in tools; one for each client, closed with it.

    Args:
        ask: puts WebFetch's question about a page to a model; without it WebFetch gives the page itself.
        web_search_url: where WebSearch asks, with `{query}` and `{count}` in it, or without, to get `q` and `count`.
        web_search_key: the secret for it, sent in `web_search_header`.
        web_search_header: the header of the key; `Authorization` carries it as a bearer token.
        web_private_hosts: hosts, or `host:port`, that WebFetch may reach although their addresses are private.
            They are also the only ones asked over http.
        shell_env: environment variables to set for shell commands, or with `None` to leave out, beside those that
            are passed on.
        max_output_chars: what one call of Bash or BashOutput gives at most; the middle of longer output is left out.
    """

    def __init__(
        self,
        *,
        ask: Ask | None = None,
        web_search_url: str | None = None,
        web_search_key: str | None = None,
        web_search_header: str = "Authorization",
        web_private_hosts: tuple[str, ...] = (),
        shell_env: Mapping[str, str | None] | None = None,
        max_output_chars: int = MAX_OUTPUT_CHARS,
    ) -> None:
        self.ask = ask
        self.web_search_url = web_search_url
        self.web_search_key = web_search_key
        self.web_search_header = web_search_header
        self.web_private_hosts = frozenset(host.lower() for host in web_private_hosts)
        self.shell_env = dict(shell_env or {})
        self.max_output_chars = max_output_chars
        self._tasks: OrderedDict[str, TaskState] = OrderedDict()
        self._lock = threading.Lock()
        self._shells: Shells | None = None
        self._pages: Pages | None = None

    def task(self, ctx: ToolContext) -> TaskState:
        """What is remembered of the task that `ctx` belongs to."""
        key = task_of(ctx)
        with self._lock:
            state = self._tasks.setdefault(key, TaskState())
            self._tasks.move_to_end(key)
            while len(self._tasks) > MAX_TASKS:
                self._tasks.popitem(last=False)
            return state

    @property
    def shells(self) -> "Shells":
        """The shells, made when the first command runs."""
        from toolwire.sdk.builtin.shells import Shells  # noqa: PLC0415 - subprocess is loaded when a shell is wanted

        with self._lock:
            if self._shells is None:
                self._shells = Shells(self.shell_env, self.max_output_chars)
            return self._shells

    @property
    def pages(self) -> "Pages":
        """The fetched pages, made when the first one is."""
        from toolwire.sdk.builtin.web.pages import Pages  # noqa: PLC0415 - the HTTP client is loaded when it is wanted

        with self._lock:
            if self._pages is None:
                self._pages = Pages(self.web_private_hosts)
            return self._pages

    def end_task(self, task_id: str) -> None:
        """Forget a task, and stop its shells without waiting for their end."""
        with self._lock:
            self._tasks.pop(task_id, None)
            shells = self._shells
        if shells is not None:
            shells.stop_of(task_id)

    async def aclose(self) -> None:
        """Stop every shell with all that it started, and wait for their end; further commands are refused."""
        if self._shells is not None:
            await self._shells.aclose()

    def close(self) -> None:
        """The same without an event loop."""
        if self._shells is not None:
            self._shells.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.aclose()


def task_of(ctx: ToolContext) -> str:
    """The id of the task that a call belongs to; "" when nobody says that calls belong together."""
    task_id = str(ctx.metadata.get("task_id") or "")
    return "" if task_id == ctx.metadata.get("tool_use_id") else task_id
