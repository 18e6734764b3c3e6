"""What a body can ask of the person or the model behind its client, and what comes back; it sends nothing.

`ctx.elicit`, `ctx.sample` and `ctx.roots` ask one thing; `ctx.ask_all` takes several of these at once.
Spec: MCP 2025-11-25 and 2026-07-28, client/elicitation, client/sampling, client/roots.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, overload

import msgspec
from msgspec import Struct, field

from toolwire.core.asking import SIGN_IN, AskMethod, Question
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.core.prompt import PromptMessage
from toolwire.core.tool import Tool
from toolwire.sdk.forms import form_of

T = TypeVar("T")
Action = Literal["accept", "decline", "cancel"]


@dataclass(frozen=True)
class Elicited(Generic[T]):
    """What a person has done with a question.

    `action` is "accept", "decline" (said no) or "cancel" (closed it). `content` is there when a form was accepted.
    `key` names the question, for `ctx.page_done`.
    """

    action: Action
    content: T | None = None
    key: str = ""

    @property
    def accepted(self) -> bool:
        """Whether the person agreed."""
        return self.action == "accept"


@dataclass(frozen=True)
class Sampled:
    """What the client's model has said: `content` are MCP's blocks, `text` the texts among them."""

    content: tuple[JsonObject, ...]
    model: str
    stop_reason: str | None = None
    role: str = "assistant"

    @property
    def text(self) -> str:
        """The texts, one after the other."""
        return "".join(block["text"] for block in self.content if block.get("type") == "text")

    @property
    def tool_uses(self) -> tuple[JsonObject, ...]:
        """The tools that the model wants called."""
        return tuple(block for block in self.content if block.get("type") == "tool_use")


class Root(Struct, frozen=True):
    """A folder or file that the client's user works in."""

    uri: str
    name: str | None = None
    meta: JsonObject | None = field(default=None, name="_meta")


class Ask(Generic[T]):
    """Something to ask, without a key."""

    method: AskMethod

    def __init__(self, params: JsonObject) -> None:
        self.params = params

    def question(self, key: str) -> Question:
        """The same under a key."""
        return Question(key, self.method, self.params)

    def read(self, answer: JsonObject, key: str) -> T:
        """The client's answer as the author gets it.

        Raises:
            ValueError: it is not what was asked for.
        """
        raise TypeError(f"{type(self).__name__} asks nothing; use AskForm, AskPage, AskModel or AskRoots")


class _ElicitAnswer(Struct, frozen=True):
    action: Action
    content: dict[str, Any] | None = None


class AskForm(Ask[Elicited[T]], Generic[T]):
    """A form for a person.

    Args:
        message: what it is for.
        schema: a dataclass, a TypedDict or a Struct, or a schema; its fields are texts, numbers, yes or no, choices.

    Raises:
        TypeError: a form cannot show that.
    """

    method = "elicitation/create"

    @overload
    def __init__(self, message: str, schema: type[T]) -> None: ...
    @overload
    def __init__(self: "AskForm[JsonObject]", message: str, schema: JsonObject) -> None: ...
    def __init__(self, message: str, schema: Any) -> None:
        self._form = form_of(schema)
        super().__init__({"message": message, "requestedSchema": self._form.schema})

    def read(self, answer: JsonObject, key: str) -> Elicited[T]:
        """See `Ask.read`."""
        found = _converted(answer, _ElicitAnswer)
        if found.action != "accept":
            return Elicited(found.action, None, key)
        if found.content is None:
            raise ValueError("an accepted form has content")
        return Elicited(found.action, self._form.read(found.content), key)


class AskPage(Ask[Elicited[None]]):
    """A page for a person to visit, for what must not pass through the client, such as a password.

    Args:
        message: why.
        url: the page.
        sign_in: a person is to sign in there, and the call goes on when that is done.

    Raises:
        ValueError: the URL is not one of the web.
    """

    method = "elicitation/create"

    def __init__(self, message: str, url: str, *, sign_in: bool = False) -> None:
        if not url.startswith(("https://", "http://")):
            raise ValueError(f"the page to visit must begin with https:// or http://, got {url!r}")
        params: JsonObject = {"mode": "url", "message": message, "url": url}
        super().__init__({**params, "_meta": {SIGN_IN: True}} if sign_in else params)

    def read(self, answer: JsonObject, key: str) -> Elicited[None]:
        """See `Ask.read`; accepted means that the person agreed to go there, not that he has been there."""
        return Elicited(_converted(answer, _ElicitAnswer).action, None, key)


class _ModelAnswer(Struct, frozen=True, rename="camel"):
    role: Literal["user", "assistant"]
    content: dict[str, Any] | list[dict[str, Any]]
    model: str
    stop_reason: str | None = None


class AskModel(Ask[Sampled]):
    """A question to the client's model.

    Args:
        messages: a text, or messages: `from_user(…)`, `from_assistant(…)` or MCP's own form as dicts.
        max_tokens: how long the answer may be.
        system: what the model shall be.
        temperature: how freely it may answer.
        stop_sequences: texts that end the answer.
        models: names of models that would do, best first; the client chooses.
        tools: that the model may ask for: decorated functions, definitions or dicts.
        tool_choice: "auto", "required" or "none".

    Raises:
        TypeError: a message or a tool is none.
    """

    method = "sampling/createMessage"

    def __init__(
        self,
        messages: str | Sequence[PromptMessage | JsonObject],
        max_tokens: int = 1000,
        *,
        system: str | None = None,
        temperature: float | None = None,
        stop_sequences: Sequence[str] = (),
        models: Sequence[str] = (),
        tools: Sequence[Any] = (),
        tool_choice: Literal["auto", "required", "none"] | None = None,
    ) -> None:
        params: JsonObject = {"messages": _messages(messages), "maxTokens": max_tokens}
        optional: dict[str, Any] = {
            "systemPrompt": system,
            "temperature": temperature,
            "stopSequences": list(stop_sequences) or None,
            "modelPreferences": {"hints": [{"name": name} for name in models]} if models else None,
            "tools": [_tool(tool) for tool in tools] or None,
            "toolChoice": None if tool_choice is None else {"mode": tool_choice},
        }
        params.update({name: value for name, value in optional.items() if value is not None})
        super().__init__(params)

    def read(self, answer: JsonObject, key: str) -> Sampled:
        """See `Ask.read`."""
        found = _converted(answer, _ModelAnswer)
        blocks = found.content if isinstance(found.content, list) else [found.content]
        if not all(isinstance(block.get("type"), str) for block in blocks):
            raise ValueError("content must be blocks, each with a type")
        if any(block["type"] == "text" and not isinstance(block.get("text"), str) for block in blocks):
            raise ValueError("a block of type text must have a text")
        return Sampled(tuple(blocks), found.model, found.stop_reason, found.role)


class _RootsAnswer(Struct, frozen=True):
    roots: tuple[Root, ...]


class AskRoots(Ask[tuple[Root, ...]]):
    """The folders that the client's user works in."""

    method = "roots/list"

    def __init__(self) -> None:
        super().__init__({})

    def read(self, answer: JsonObject, key: str) -> tuple[Root, ...]:
        """See `Ask.read`."""
        return _converted(answer, _RootsAnswer).roots


A = TypeVar("A", bound=Struct)


def _converted(answer: JsonObject, type_: type[A]) -> A:
    try:
        return msgspec.convert(answer, type_)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None


def checker(asks: Mapping[str, Ask[Any]]) -> Any:
    """What says whether an answer fits, for `core.asking.Asker.ask`."""

    def check(question: Question, answer: JsonObject) -> str | None:
        try:
            asks[question.key].read(answer, question.key)
        except ValueError as error:
            return str(error)
        return None

    return check


def outcome_of(answer: Any) -> str:
    """One word for the record; what was said is nobody's business there."""
    return answer.action if isinstance(answer, Elicited) else "answered"


def _messages(given: str | Sequence[PromptMessage | JsonObject]) -> list[JsonObject]:
    if isinstance(given, str):
        return [{"role": "user", "content": {"type": "text", "text": given}}]
    found: list[JsonObject] = []
    for message in given:
        plain = msgspec.to_builtins(message) if isinstance(message, PromptMessage) else as_object(message)
        if plain is None or not {"role", "content"} <= plain.keys():
            raise TypeError(f"sample() takes a text or messages with role and content, got {message!r}")
        found.append(plain)
    if not found:
        raise TypeError("sample() needs at least one message")
    return found


def _tool(given: Any) -> JsonObject:
    definition = getattr(given, "tool", given)
    if isinstance(definition, Tool):
        return definition.definition()
    plain = as_object(given)
    if plain is None or "name" not in plain:
        raise TypeError(f"sample(tools=…) takes decorated tools or definitions, got {given!r}")
    return plain
