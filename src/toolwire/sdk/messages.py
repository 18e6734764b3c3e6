"""What a model is asked and what it answers, in the words every provider shares; it does not talk to any model.

A model provider is any object with `complete(request)`, synchronous or asynchronous (sdk.md 74-77). What else the
runtime looks for on it, all optional:

* `stream(request, on_delta)`: like `complete`, and calls `on_delta(delta)` from any thread as parts come in;
* `inline = True`: a synchronous `complete` never blocks, so it need not have a thread;
* `cost_usd(model, usage) -> float | None`: what a response cost, where prices are known;
* `aclose()`: lets go of connections; whoever made the provider calls it, since several clients may share one.

A provider raises `errors.ProviderError` to say whether trying again may help; any other exception is final.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Literal, Protocol, TypeAlias, cast, overload

import msgspec
from msgspec import Struct

from toolwire.core.jsontypes import JsonObject
from toolwire.sdk.content import ContentRef

StopReason: TypeAlias = Literal["tool_use", "end_turn", "max_tokens", "error"]
Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


class ImageBlock(Struct, frozen=True, gc=False, tag="image", tag_field="type"):
    """A picture; `source` refers to the content store, and `LLMRequest.load(source)` gives its bytes."""

    source: ContentRef


class TextBlock(Struct, frozen=True, gc=False, tag="text", tag_field="type"):
    """A piece of text."""

    text: str


class ThinkingBlock(Struct, frozen=True, gc=False, tag="thinking", tag_field="type", omit_defaults=True):
    """What the model thought; goes back to the provider as it came. `data` is what only the provider can read."""

    text: str = ""
    signature: str | None = None
    data: str | None = None


class ToolUseBlock(Struct, frozen=True, gc=False, tag="tool_use", tag_field="type"):
    """The model asks for a call. `arguments` are a JSON object unless the model wrote something else."""

    call_id: str
    tool_name: str
    arguments: Any


class ToolResultBlock(Struct, frozen=True, gc=False, tag="tool_result", tag_field="type", omit_defaults=True):
    """What became of a call: `output` is any JSON value; `error` says what went wrong when `success` is false."""

    call_id: str
    output: Any
    success: bool
    error: str | None = None
    images: list[ImageBlock] | None = None


Block: TypeAlias = TextBlock | ThinkingBlock | ToolUseBlock | ToolResultBlock | ImageBlock


class Message(Struct, frozen=True, gc=False, omit_defaults=True):
    """One message of the conversation. `origin` tells who put in what neither the user nor the model said."""

    role: Role
    content: list[Block]
    origin: str | None = None

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return "".join(block.text for block in self.content if isinstance(block, TextBlock))


class Usage(Struct, frozen=True, gc=False, omit_defaults=True):
    """Tokens of one response or of several; the input is split by how it met the provider's cache.

    `cost_usd` is `None` where no price is known; a sum counts what is.
    """

    uncached: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = None

    @property
    def input(self) -> int:
        """All tokens the model read."""
        return self.uncached + self.cache_read + self.cache_write

    @property
    def visible_output(self) -> int:
        """The output tokens that were not spent on thinking."""
        return max(0, self.output - self.reasoning_tokens)

    def __add__(self, other: "Usage") -> "Usage":
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return Usage(
            self.uncached + other.uncached,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.output + other.output,
            self.reasoning_tokens + other.reasoning_tokens,
            sum(costs) if costs else None,
        )


class LLMResponse(Struct, frozen=True):
    """The model's answer; `raw` is whatever the provider got, for debugging, and is not recorded."""

    stop_reason: StopReason
    content: list[Block]
    usage: Usage = msgspec.field(default_factory=Usage)
    raw: Any = None


class History(Sequence[Message]):
    """The first `len(self)` messages of a conversation that only ever grows: a view, made without copying."""

    __slots__ = ("_count", "_messages")

    def __init__(self, messages: list[Message]) -> None:
        """Freeze the view at the present length; whoever owns `messages` may append, and must not do anything else."""
        self._messages = messages
        self._count = len(messages)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        if isinstance(index, slice):
            return [self._messages[i] for i in range(*index.indices(self._count))]
        if index < 0:
            index += self._count
        if not 0 <= index < self._count:
            raise IndexError(f"there are {self._count} messages; none has the index {index}")
        return self._messages[index]

    def __iter__(self) -> Iterator[Message]:
        for index in range(self._count):
            yield self._messages[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (History, list, tuple)):
            return list(self) == list(cast("Sequence[Message]", other))
        return NotImplemented

    __hash__ = None  # pyright: ignore[reportAssignmentType] -- the way to say that it has none

    def __repr__(self) -> str:
        return f"History({list(self)!r})"


def _no_content(ref: ContentRef) -> bytes:
    raise KeyError(f"no content is stored under {ref.hash!r}; this request was not made by a runtime")


class LLMRequest(Struct, frozen=True, kw_only=True):
    """What the model is asked.

    Attributes:
        model: the model's name, as the provider knows it.
        messages: the conversation so far, the injected messages among it; immutable.
        tools: `{"type": "function", "function": {"name", "description", "parameters"}}` for each tool.
        system: the system prompt.
        temperature: `None` for the model's own.
        max_tokens: the longest answer wanted; `None` for the provider's limit.
        metadata: `task_id` and whatever `Options.metadata` has; not shown to the model.
        output_schema: a JSON Schema the final answer shall fit; a provider that cannot ask for it leaves it alone.
        thinking: what `Options.thinking` says.
        effort: what `Options.effort` says.
        load: the bytes of an image that a message refers to; safe from any thread.
    """

    model: str
    messages: Sequence[Message]
    tools: Sequence[JsonObject] = ()
    system: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    metadata: JsonObject = msgspec.field(default_factory=dict[str, Any])
    output_schema: JsonObject | None = None
    thinking: Any = None
    effort: str | None = None
    load: Callable[[ContentRef], bytes] = _no_content


class TextDelta(Struct, frozen=True, tag="text_delta", tag_field="type"):
    """The next piece of the answer's text."""

    text: str


class ThinkingDelta(Struct, frozen=True, tag="thinking_delta", tag_field="type"):
    """The next piece of what the model thinks."""

    text: str


class ToolUseDelta(Struct, frozen=True, tag="tool_use_delta", tag_field="type"):
    """The next piece of a call's arguments, as JSON text; the first one of a call may be empty."""

    call_id: str
    tool_name: str
    arguments_json: str = ""


Delta: TypeAlias = TextDelta | ThinkingDelta | ToolUseDelta
OnDelta: TypeAlias = Callable[[Delta], None]


class ToolProgress(Struct, frozen=True, tag="tool_progress", tag_field="type", omit_defaults=True):
    """How far a running call is, as its tool tells (`ctx.progress`, `ctx.say`, `ctx.log`)."""

    call_id: str
    tool_name: str
    message: str = ""
    progress: float | None = None
    total: float | None = None
    level: str | None = None


TaskDelta: TypeAlias = Delta | ToolProgress
"""What listeners of a task are told ahead of the events."""


class Provider(Protocol):
    """A model. See the module's text for what else the runtime looks for."""

    def complete(self, request: LLMRequest) -> LLMResponse | Awaitable[LLMResponse]:
        """Answer `request`. A synchronous one runs on a thread unless the provider has `inline = True`.

        Raises:
            ProviderError: no answer; `retryable` says whether trying again may help.
        """
        ...


class StreamingProvider(Provider, Protocol):
    """A model that also gives its answer in parts; used when somebody listens to deltas."""

    def stream(self, request: LLMRequest, on_delta: OnDelta) -> LLMResponse | Awaitable[LLMResponse]:
        """Answer `request`, and tell its parts as they come; the response is whole all the same."""
        ...


LLMProvider: TypeAlias = Provider
"""Another name for `Provider`, under which other SDKs know it."""
