"""Who calls which tool with what, until when; it does not know how the call came in."""

from msgspec import Struct
from msgspec.structs import replace

from toolwire.core.jsontypes import JsonObject

MAX_DEPTH = 8
"""A call made by a call made by a call …: refused beyond this, because arrows may form loops."""


class Caller(Struct, frozen=True, omit_defaults=True):
    """Who is asking.

    `principal` is what idempotency and sessions are bound to: the owner's id for an owner key or OAuth, the key's id
    for a `bak_` key, so that a rotated owner key is still the same principal (gateway.md D1).
    `owner` is the tenant. `surface` is one of "sdk", "toolbox", "gateway", "rest", "cli", "mcp".
    """

    principal: str
    owner: str
    surface: str
    scopes: tuple[str, ...] = ()
    session_id: str | None = None


class Attachment(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A file given along with a call (gateway.md 19); `filename` and `content_type` override the stored ones."""

    file_id: str
    filename: str | None = None
    content_type: str | None = None


class TaskTerms(Struct, frozen=True):
    """For how long a call that is a task may run, and is known afterwards; both Unix seconds, UTC.

    `ends_by` is its own deadline, whatever that of the request was that began it.
    """

    ends_by: float
    kept_until: float


class Hook(Struct, frozen=True, omit_defaults=True):
    """A webhook that came with its call: where to tell of the call, and the sealed secrets to do it with.

    `events` are the statuses to tell of; empty for the usual ones.
    """

    url: str
    sealed: str
    has_secret: bool
    events: tuple[str, ...] = ()


class Call(Struct, frozen=True, omit_defaults=True):
    """One tool call, before anything has happened to it.

    `agent_id` names whose tool it is ("" for a server without agents). `deadline` is Unix seconds, UTC: when the
    request that brought the call stops waiting. `context_id` is the conversation (the channel's id on the gateway).
    `files` is what the `attachments` stand for, as whoever runs the call is told; no key stands for it.
    `continues` says that the caller named a conversation that it goes on in. `watched` says that somebody besides the
    request wants the end of it (a task, a webhook). `task` is set on a call that is a task, whose id is the call's; it
    is watched, too. `hook` is the webhook that came with a call, which is watched then. `client_capabilities` is what
    the client has declared, in MCP's words; `None` where nobody knows or there is nothing. `claimed_as` is set on a
    call with a key that was read from the store, and its `idempotency_key` is "" then: the key's claim has this name.
    """

    id: str
    caller: Caller
    tool: str
    arguments: JsonObject
    deadline: float
    agent_id: str = ""
    idempotency_key: str | None = None
    context_id: str | None = None
    attachments: tuple[Attachment, ...] = ()
    files: tuple[JsonObject, ...] = ()
    continues: bool = False
    watched: bool = False
    task: TaskTerms | None = None
    client_capabilities: JsonObject | None = None
    hook: Hook | None = None
    parent: str | None = None
    depth: int = 0
    claimed_as: str = ""

    def at_rest(self, claimed_as: str) -> "Call":
        """The call as it is stored: what its key's claim is called stands for the key, which nobody reads again."""
        return replace(self, idempotency_key="", claimed_as=claimed_as)

    @property
    def durable(self) -> bool:
        """Whether the call is committed before it is dispatched, and its result before it is answered.

        A session's call is for its conversation's sake, which a server without agents has not.
        """
        if self.caller.session_id is not None and self.context_id is not None:
            return True
        return self.idempotency_key is not None or self.watched or self.continues

    @property
    def outlives_request(self) -> bool:
        """Whether the call goes on when its request has timed out (gateway.md §6, time-outs)."""
        return self.idempotency_key is not None or self.watched

    @property
    def done_by(self) -> float:
        """Until when whoever works on the call has time, Unix seconds, UTC."""
        return self.deadline if self.task is None else self.task.ends_by
