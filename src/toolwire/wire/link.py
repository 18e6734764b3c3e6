"""The agent link and the message service's rows, as bytes and values; it does not carry them anywhere.

An agent process opens `WS /api/v1/agents/link` with its `agk_` key and sends `Hello`; the gateway answers `Welcome`
and from then on `Deliver`s messages. Each WebSocket text message is a JSON array of frames (one frame alone may stand
without the array), so that whatever is ready goes out in one write. Requests carry a `ref` of the sender's choice;
their answer (`Published`, `Refused`, `Rows`) repeats it.

What the payloads hold (gateway.md 1H), the same over the link and over the HTTP routes. To the agent:

* `chat_message` `{"message", "tool"?: {"name", "arguments"}, "attachments"?: […], "metadata"?: {…}}`; in `metadata`,
  `deadline` (Unix seconds) says when the caller stops waiting, and `client_capabilities`, where there are some, what
  the caller's MCP client has declared. An attachment is `{"file_id", "filename", "content_type", "size",
  "download_url", "expires_at"}`; the address needs no key, and a later one is at `/api/v1/files/{file_id}`.
* `chat_cancel` `{"target_message_id"}`.
* `user.continue`, from the owner, with the `message_id` of an `agent.input_required` as `in_reply_to`: what was
  decided, `{"approve"?: true | [call_id, …], "deny"?: true | [call_id, …], "reason"?, "arguments"?: {call_id: {…}}}`.
  `true` is every call that was asked about; a call in both is denied; `arguments` replace those of a call that is
  approved. It has no terminal reply of its own, and changes nothing when its question is no longer open. An agent that
  is away gets it when its link is there again. `user.auth_grant` `{}` answers a question that sends somebody to sign
  in.

From the agent, each with the `chat_message` as `in_reply_to` and, for one message, exactly one that is terminal:

* `agent_reply` `{"text", "content"?: [MCP blocks], "structured"?}`: the answer; without `content` it is one text block.
  A `resource_link` to `FILE_URI` and a file's id names a file that the agent has uploaded, or that came along.
  With `"is_error": true` it is a failure that a model may read, and `code` (a key of `ERRORS`) is there where the
  agent's runtime speaks and not the tool: `outcome_unknown`, `tool_not_found`, `invalid_param`, `internal_error`, …
* `agent.refuse` `{"text", "code"?}`: it will not do it; `code` is `cancelled` where it was told to stop.
* `agent_busy` `{"text"}`: it takes no more now.
* `agent_reply_delta`, not terminal: `{"text"}` is a piece of the answer and becomes a `Progress` with that text as
  message, one above the last value; `{"text": "", "progress": {"progress", "total"?, "message"?}}` becomes that
  `Progress`. A value that would not rise is raised by one, so that both kinds share one rising counter.
  `{"text": "", "log": {"level", "text", "logger"?}}` becomes a `Log`, which goes to clients that asked for it, and
  `{"text": "", "pause": {"retry_after_s"?}}` says that the client need not hold a stream open for the rest.
* `agent.input_required`, not terminal: the agent rests until a `user.continue` answers it. `{"text", "approvals":
  [{"call_id", "tool", "arguments", "reason"}]}`: what is asked in words, and the calls that wait for a yes or a no. It
  becomes a `Progress` with that text. It is said again, under the same `message_id`, with every new link, because a
  gateway may have been started anew, and by an agent process that has taken the place of one. With `"questions":
  [{"key", "method", "params"}]` the caller's MCP client is asked (`elicitation/create`, `sampling/createMessage`,
  `roots/list`, in MCP's words), and the gateway answers by a `user.continue` `{"answers": {key: result}, "deadline",
  "client_capabilities"}` or `{"error": {"code", "message", "data"}}`. With both, who is behind the call may decide
  where he can be asked, and otherwise the owner alone: no `error` is told, and whoever answers first has decided. An
  `agent_reply_delta` `{"text": "", "page_done": key}` says that the page of a URL has done its work.

Resources, prompts and completions are no messages: they leave no record. What a `Registration` lists with its contents
(`text` or `blob` of a resource, `messages` of a prompt) the gateway gives by itself; for everything else it sends an
`Ask` to an agent whose `Hello` says that it `answers`, and takes `Noted`s and one `Answered` with the same `ref`.
"""

from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from toolwire.core.change import Listed
from toolwire.core.errors import InvalidRequest
from toolwire.core.jsontypes import MAX_DEPTH, JsonObject, is_too_deep, may_be_deep
from toolwire.core.result import Failure
from toolwire.core.tool import TaskMode

PROTOCOL = 1
DeliveryMode = Literal["push", "queue", "busy_reject"]
AskMethod = Literal["resources/read", "prompts/get", "completion/complete"]

MAX_MESSAGE_BYTES = 40 * 1024 * 1024
"""The largest WebSocket message either side takes: an answer of `reply_limit_bytes` and what is around it."""

TERMINAL_TYPES = ("agent_reply", "agent_reply_error", "agent.refuse", "agent_busy")
"""The message types that end the wait for an answer (gateway.md 1H)."""

INPUT_REQUIRED = "agent.input_required"
"""An agent asks, and rests until it is answered.

With `task` in its payload it asks for nothing but that its call goes on as a task from now on, which is answered with
its `deadline`. Messages in whose metadata stands `may_become_task` take that.
"""

USER_CONTINUE = "user.continue"
"""The owner answers an `INPUT_REQUIRED`."""

AUTH_GRANT = "user.auth_grant"
"""The owner has signed in where an `INPUT_REQUIRED` sent him."""

OWNERS_TYPES = (USER_CONTINUE, AUTH_GRANT)
"""What no agent says: it would decide on its own calls, or on another agent's."""

FILE_URI = "toolwire://files/"
"""Before a file's id: a `resource_link` to it in an agent's answer becomes the picture, or a link that opens it."""


class Skill(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A tool that an agent registers (gateway.md §6, sync).

    `timeout_ms` (on the wire as written here) overrides the gateway's call time-out. `expose_as_tool` false keeps the
    skill out of `tools/list`. `long_running` says that a call is better watched as a task than waited for; `task` says
    that, or what else of tasks, in the words of `core.tool.TaskMode`. `strict` says that a text is never decoded where
    the schema wants something else, `may_ask` that calls of it may ask their caller's MCP client.
    """

    name: str
    description: str = ""
    input_schema: JsonObject | None = None
    output_schema: JsonObject | None = None
    title: str | None = None
    annotations: JsonObject | None = None
    icons: list[JsonObject] | None = None
    expose_as_tool: bool = True
    idempotent: bool = False
    long_running: bool = False
    strict: bool = False
    may_ask: bool = False
    task: TaskMode | None = None
    meta: JsonObject | None = msgspec.field(default=None, name="_meta")
    timeout_ms: int | None = msgspec.field(default=None, name="timeout_ms")


class Registration(Struct, frozen=True, omit_defaults=True):
    """What an agent says it is; declarative, so a skill that is missing is deactivated (gateway.md 4).

    `resources` are MCP's `Resource` objects and, where they have a `uriTemplate` in place of a `uri`, its
    `ResourceTemplate` objects; one with a `uri` may have its contents with it, as `text` or `blob` (base64). `prompts`
    are MCP's `Prompt` objects; one without arguments may have its `messages` with it. `completions` says that the
    arguments of some can be completed.
    """

    name: str
    version: str = ""
    description: str = ""
    delivery_mode: DeliveryMode | None = None
    skills: tuple[Skill, ...] = ()
    resources: tuple[JsonObject, ...] = ()
    prompts: tuple[JsonObject, ...] = ()
    completions: bool = False


class Message(Struct, frozen=True, omit_defaults=True):
    """One row of a channel (gateway.md 1H). `offset` rises within the channel; `created_at` is RFC 3339, UTC."""

    message_id: str
    channel_id: str
    offset: int
    type: str
    payload: JsonObject
    publisher_id: str
    created_at: str
    in_reply_to: str | None = None
    idempotency_key: str | None = None
    metadata: JsonObject = {}


class Hello(Struct, frozen=True, tag="hello", tag_field="frame", omit_defaults=True):
    """First frame of an agent.

    `journal` names the agent's `message → answer` memory: a message that this journal has taken may be sent to it
    again, and to nobody else. `running` lists the ids of messages it holds right now: waiting, at work, or answered
    with the answer not `Published` yet; these need not be sent again. `answers` says that it takes `Ask`s.
    """

    protocol: int
    journal: str
    registration: Registration
    running: tuple[str, ...] = ()
    answers: bool = False


class Welcome(Struct, frozen=True, tag="welcome", tag_field="frame", omit_defaults=True):
    """The agent is attached. `skills` counts {created, updated, deactivated}."""

    agent_id: str
    skills: dict[str, int]


class Deliver(Struct, frozen=True, tag="deliver", tag_field="frame", omit_defaults=True):
    """A message for the agent: a `chat_message` to answer, or a `chat_cancel` or `user.continue` about one."""

    delivery_id: str
    message: Message
    redelivered: bool = False


class Publish(Struct, frozen=True, tag="publish", tag_field="frame", omit_defaults=True):
    """Put a message on a channel. The same `message_id` again changes nothing and is answered like the first."""

    ref: int
    channel_id: str
    type: str
    payload: JsonObject
    message_id: str | None = None
    in_reply_to: str | None = None


class Published(Struct, frozen=True, tag="published", tag_field="frame", omit_defaults=True):
    """The message is on the channel, as durably as the channel is."""

    ref: int
    message_id: str
    offset: int
    idempotent: bool = False


class Read(Struct, frozen=True, tag="read", tag_field="frame", omit_defaults=True):
    """Ask for a channel's rows after the offset `since`; `limit` at most 500."""

    ref: int
    channel_id: str
    since: int = 0
    limit: int = 100


class Rows(Struct, frozen=True, tag="rows", tag_field="frame"):
    """The answer to `Read`."""

    ref: int
    messages: tuple[Message, ...]


class Refused(Struct, frozen=True, tag="refused", tag_field="frame", omit_defaults=True):
    """A frame was not accepted; `code` is a key of `ERRORS`. Without `ref` it speaks of the link itself."""

    code: str
    message: str
    ref: int | None = None


class Drain(Struct, frozen=True, tag="drain", tag_field="frame"):
    """The agent finishes what it has and wants no more deliveries."""


class Register(Struct, frozen=True, tag="register", tag_field="frame"):
    """The agent offers something else than before, on the same link. Answered by `Registered` or `Refused`."""

    ref: int
    registration: Registration


class Registered(Struct, frozen=True, tag="registered", tag_field="frame"):
    """The registration stands. `skills` counts {created, updated, deactivated}."""

    ref: int
    skills: dict[str, int]


class Changed(Struct, frozen=True, tag="changed", tag_field="frame", omit_defaults=True):
    """Something is another than before that a registration does not show: a list, or the resource at `uri`.

    Clients that listen are told. What a new registration shows is told by itself.
    """

    which: Listed | None = None
    uri: str | None = None


class Ask(Struct, frozen=True, tag="ask", tag_field="frame", omit_defaults=True):
    """The gateway asks what it cannot answer by itself, in MCP's words. Answered by `Answered`.

    `deadline` (Unix seconds) says when nobody waits any more. `client_capabilities` is what the client has declared.
    """

    ref: int
    method: AskMethod
    params: JsonObject
    deadline: float
    client_capabilities: JsonObject | None = None


class Forget(Struct, frozen=True, tag="forget", tag_field="frame"):
    """Nobody waits for the answer to an `Ask` any more. It needs none."""

    ref: int


class Noted(Struct, frozen=True, tag="noted", tag_field="frame"):
    """Something that happens while an `Ask` is answered; `payload` is that of an `agent_reply_delta`.

    With `questions`, as in an `agent.input_required`, and the agent's number of them in `question`, the client is
    asked, and a `Continue` answers.
    """

    ref: int
    payload: JsonObject


class Continue(Struct, frozen=True, tag="continue", tag_field="frame"):
    """The answer to the `question` of a `Noted` that asked the client; `payload` is that of a `user.continue`."""

    ref: int
    question: int
    payload: JsonObject


class Answered(Struct, frozen=True, tag="answered", tag_field="frame", omit_defaults=True):
    """The answer to an `Ask`: MCP's result of its method, or why there is none; `code` is a key of `ERRORS`."""

    ref: int
    result: JsonObject | None = None
    error: Failure | None = None


FromAgent: TypeAlias = Hello | Publish | Read | Drain | Register | Changed | Noted | Answered
FromGateway: TypeAlias = Welcome | Deliver | Published | Rows | Refused | Registered | Ask | Forget | Continue

_encoder = msgspec.json.Encoder()
_from_agent = msgspec.json.Decoder(FromAgent)
_from_agent_many = msgspec.json.Decoder(tuple[FromAgent, ...])
_from_gateway = msgspec.json.Decoder(FromGateway)
_from_gateway_many = msgspec.json.Decoder(tuple[FromGateway, ...])


def encode_frames(frames: "list[FromAgent] | list[FromGateway]") -> bytes:
    """One WebSocket message of these frames."""
    return _encoder.encode(frames)


def decode_from_agent(data: bytes | str) -> tuple[FromAgent, ...]:
    """The frames an agent sent.

    Raises:
        InvalidRequest: not JSON, not frames of this protocol, or nested too deeply; the message says where.
    """
    frames: tuple[FromAgent, ...] = _decode(data, _from_agent, _from_agent_many)
    if may_be_deep(data) and any(is_too_deep(_open_part_of(frame)) for frame in frames):
        raise InvalidRequest(f"a payload is nested too deeply; {MAX_DEPTH} levels are taken")
    return frames


def decode_from_gateway(data: bytes | str) -> tuple[FromGateway, ...]:
    """The frames a gateway sent.

    Raises:
        InvalidRequest: not JSON, or not frames of this protocol; the message says where.
    """
    return _decode(data, _from_gateway, _from_gateway_many)


def _open_part_of(frame: FromAgent) -> Any:
    """The part of a frame that is the agent's to shape."""
    match frame:
        case Publish(payload=payload) | Noted(payload=payload):
            return payload
        case Answered(result=result):
            return result
        case _:
            return None


def _decode(data: bytes | str, one: "msgspec.json.Decoder[Any]", many: "msgspec.json.Decoder[Any]") -> Any:
    try:
        if data[:1] in (b"[", "["):
            return many.decode(data)
        return (one.decode(data),)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidRequest(f"not a frame of the agent link: {error}") from None


def call_id_of(message_id: str) -> str:
    """The call that a `chat_message` carries: both ids share what follows their prefix."""
    return "call_" + message_id.removeprefix("msg_")


def message_id_of(call_id: str) -> str:
    """The id of the `chat_message` that carries a call, minted with it so that a crash cannot separate them."""
    return "msg_" + call_id.removeprefix("call_")
