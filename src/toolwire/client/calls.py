"""What a client asks of agents: calls to wait for, and tasks; it sends nothing.

Spec: gateway.md 25, 54, §6 "REST".
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from toolwire.client.asks import Ask, Watch, get, part, post, present
from toolwire.client.doors import D, Group, Method, Stream
from toolwire.core.jsontypes import JsonObject
from toolwire.wire.answers.calls import Answer, CallEvent, ErrorEvent, ResultEvent, Task, TaskPage, TaskStatus
from toolwire.wire.answers.channels import History
from toolwire.wire.answers.records import CallNews, CallPage, WholeCall

LAST: Final = (ResultEvent, ErrorEvent)


class Terms(Struct, frozen=True, kw_only=True):
    """What a call is made under.

    A call with an `idempotency_key` runs once, however often it is sent, so that it may be sent again when nobody
    knows whether it arrived. `context_id` goes on in a conversation. `attachments` are as MCP's content blocks or
    `{"file_id": …}`.
    """

    idempotency_key: str | None = None
    context_id: str | None = None
    attachments: Sequence[JsonObject] = ()
    timeout_ms: int | None = None

    def body(self, tool: str | None, message: str | None, arguments: Mapping[str, Any] | None) -> JsonObject:
        """The body of a call."""
        return present(
            tool=tool,
            message=message,
            arguments=arguments,
            attachments=list(self.attachments) or None,
            context_id=self.context_id,
            timeout_ms=self.timeout_ms,
        )


NO_TERMS: Final = Terms()


class Which(Struct, frozen=True, kw_only=True):
    """Which calls of the record are wanted; what is `None` or empty does not matter.

    `agent` is the id or name of an agent whose tool was called, or that has called. `caller` is the id of who called.
    """

    agent: str | None = None
    tool: str | None = None
    statuses: Sequence[TaskStatus] = ()
    surface: str | None = None
    caller: str | None = None

    def query(self) -> dict[str, Any]:
        """The same as a query."""
        told = {"agent": self.agent, "tool": self.tool, "surface": self.surface, "caller": self.caller}
        return {**told, "status": list(self.statuses) or None}


ANY: Final = Which()


class CallCalls(Group[D]):
    """Calls of agents, by an owner's or a caller's key: of a tool, or of an agent that is sent a message.

    The record of all calls (`list`, `get`, `watch`) is read by an owner's key.
    """

    @Method
    def invoke(
        self,
        agent: str,
        tool: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        *,
        message: str | None = None,
        terms: Terms = NO_TERMS,
    ) -> Ask[Answer]:
        """Call a tool, or say something, and wait for the end."""
        body = terms.body(tool, message, arguments)
        return post(f"/agents/{part(agent)}/invoke", Answer, body, key=terms.idempotency_key)

    @Stream
    def stream(
        self,
        agent: str,
        tool: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        *,
        message: str | None = None,
        terms: Terms = NO_TERMS,
    ) -> Watch[CallEvent]:
        """The same, and read what happens on the way; the last event is a `ResultEvent` or an `ErrorEvent`.

        Who leaves the stream of a call without an idempotency key ends the call.
        """
        body = terms.body(tool, message, arguments)
        ask = post(f"/agents/{part(agent)}/invoke", Answer, body, key=terms.idempotency_key)
        return Watch(ask=ask, event=CallEvent, last=LAST, resumable=ask.idempotent)

    @Method
    def list(
        self,
        which: Which = ANY,
        *,
        since: str | None = None,
        until: str | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> Ask[CallPage]:
        """The owner's calls, the latest first; times are RFC 3339, `before` is the `next` of the page before."""
        more = {"since": since, "until": until, "before": before, "limit": limit}
        return get("/calls", CallPage, {**which.query(), **more})

    @Method
    def get(self, call_id: str) -> Ask[WholeCall]:
        """A call in full, with its arguments and its end."""
        return get(f"/calls/{part(call_id)}", WholeCall)

    @Stream
    def watch(self, which: Which = ANY, *, after: str | None = None) -> Watch[CallNews]:
        """The owner's calls as they begin, go on and end, for as long as somebody reads; over breaks of the connection.

        With the `after` of a page, nothing is missed since that.
        """
        ask = get("/calls/events", CallPage, {**which.query(), "after": after})
        return Watch(ask=ask, event=CallNews)


class TaskCalls(Group[D]):
    """Tasks: calls that go on whoever waits for them, by an owner's or a caller's key."""

    @Method
    def submit(
        self,
        agent: str,
        tool: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        *,
        message: str | None = None,
        deadline_ms: int | None = None,
        webhook: Mapping[str, Any] | None = None,
        terms: Terms = NO_TERMS,
    ) -> Ask[Task]:
        """Begin a task that may take `deadline_ms`; the answer comes at once."""
        body = terms.body(tool, message, arguments) | present(deadline_ms=deadline_ms, webhook=webhook)
        return post(f"/agents/{part(agent)}/tasks", Task, body, key=terms.idempotency_key)

    @Method
    def list(
        self, agent: str, *, status: TaskStatus | None = None, after: str | None = None, limit: int | None = None
    ) -> Ask[TaskPage]:
        """The caller's tasks with an agent, the oldest first, after one of them."""
        return get(f"/agents/{part(agent)}/tasks", TaskPage, {"status": status, "after": after, "limit": limit})

    @Method
    def get(self, agent: str, task_id: str) -> Ask[Task]:
        """A task as it is now."""
        return get(_task(agent, task_id), Task)

    @Method
    def cancel(self, agent: str, task_id: str) -> Ask[Task]:
        """Say that nobody wants a task any more; of one that has ended nothing changes."""
        return replace(post(_task(agent, task_id) + "/cancel", Task), idempotent=True)

    @Method
    def give_answers(self, agent: str, task_id: str, answers: Mapping[str, JsonObject]) -> Ask[Task]:
        """Answer what a task asks, so that it goes on: by key, in MCP's words for each question."""
        return post(_task(agent, task_id) + "/continue", Task, {"answers": answers})

    @Method
    def messages(self, agent: str, task_id: str, *, since: int | None = None, limit: int | None = None) -> Ask[History]:
        """What a task and its agent have said to each other, after an offset."""
        return get(_task(agent, task_id) + "/messages", History, {"since": since, "limit": limit})

    @Stream
    def events(self, agent: str, task_id: str) -> Watch[CallEvent]:
        """What happens to a task, from its beginning to its end; over breaks of the connection, too."""
        return Watch(ask=get(_task(agent, task_id) + "/events", Task), event=CallEvent, last=LAST)


def _task(agent: str, task_id: str) -> str:
    return f"/agents/{part(agent)}/tasks/{part(task_id)}"
