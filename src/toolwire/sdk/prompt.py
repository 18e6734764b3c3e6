"""A function as a prompt, and functions that complete arguments; they are served elsewhere."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, cast

from toolwire.core.call import Call
from toolwire.core.errors import InvalidParam
from toolwire.core.handler import Emit
from toolwire.core.jsontypes import JsonObject
from toolwire.core.prompt import Completion, Prompt, PromptArgument, PromptMessage, PromptResult, Role
from toolwire.sdk.authoring.authored import Authored
from toolwire.sdk.authoring.checks import checked_text
from toolwire.sdk.authoring.coerce import UnfitArguments
from toolwire.sdk.authoring.signature import REQUIRED, Body
from toolwire.sdk.encode import clean_text
from toolwire.sdk.result import to_result


class PromptOptions(TypedDict, total=False):
    """What `server.prompt(…)` can be told; all of it by keyword.

    Attributes:
        name: by default the function's name.
        title: a name for people.
        description: by default the docstring's first paragraph.
        inline: run a synchronous function on the event loop, because it never blocks.
    """

    name: str
    title: str | None
    description: str
    inline: bool


def from_user(content: Any) -> PromptMessage:
    """A message of the user's: a text, a picture, a resource or a content block."""
    return _message("user", content)


def from_assistant(content: Any) -> PromptMessage:
    """A message of the assistant's: a text, a picture, a resource or a content block."""
    return _message("assistant", content)


@dataclass(frozen=True)
class AuthoredPrompt:
    """A prompt that a function makes."""

    definition: Prompt
    function: Authored

    async def get(self, call: Call, emit: Emit) -> PromptResult:
        """The messages for `call.arguments`, which are texts that stand for what the hints say.

        Raises:
            InvalidParam: an argument is missing, unknown or does not fit.
            InternalError: the function failed; the message is for the client.
        """
        given = call.arguments
        known = self.function.names
        for name in given:
            if name not in known:
                raise InvalidParam(
                    f"{self.function.label} has no argument {name!r}; it has {list(known)!r}", param=f"arguments/{name}"
                )
        for argument in self.definition.arguments:
            if argument.required and argument.name not in given:
                raise InvalidParam(
                    f"{self.function.label} needs the argument {argument.name!r}", param=f"arguments/{argument.name}"
                )
        return await self.function.ask(given, call, emit, self._result)

    def _result(self, value: Any) -> PromptResult:
        return PromptResult(tuple(_messages(value)), self.definition.description)


def make_prompt(fn: Body, options: PromptOptions) -> AuthoredPrompt:
    """Make a function a prompt, whose arguments are the function's parameters.

    Raises:
        TypeError: the function cannot be one.
        ValueError: the name is empty.
    """
    name = options.get("name", getattr(fn, "__name__", ""))
    if not name:
        raise ValueError("a prompt needs a name; give name=…")
    function = Authored.of(fn, "prompt", name, options.get("inline", False))
    properties: JsonObject = function.schema["properties"]
    arguments = tuple(
        PromptArgument(
            parameter.name,
            description=properties[parameter.name].get("description"),
            required=parameter.default is REQUIRED,
        )
        for parameter in function.parameters
    )
    description = checked_text(options.get("description", function.text), "description")
    definition = Prompt(checked_text(name, "name"), options.get("title"), description or None, arguments)
    return AuthoredPrompt(definition, function)


@dataclass(frozen=True)
class AuthoredCompleter:
    """A function of `(value)` or `(value, given)` that says what an argument may be."""

    function: Authored

    async def complete(self, value: str, call: Call, emit: Emit) -> Completion:
        """What the argument may be; nothing where what is typed does not even fit.

        Raises:
            InternalError: the function failed; the message is for the client.
        """
        given = dict(zip(self.function.names, (value, call.arguments), strict=False))
        try:
            return await self.function.ask(given, call, emit, _completion)
        except UnfitArguments:
            return Completion()


def make_completer(fn: Body) -> AuthoredCompleter:
    """Make a function complete an argument.

    Raises:
        TypeError: it does not take `(value)` or `(value, given)`.
    """
    function = Authored.of(fn, "complete", "", inline=False)
    if len(function.parameters) not in (1, 2):
        raise TypeError(f"{function.label} must take (value: str) or (value: str, given: dict[str, str])")
    return AuthoredCompleter(function)


@dataclass(frozen=True)
class Choices:
    """Completes an argument whose hint lists its values."""

    values: tuple[str, ...]

    async def complete(self, value: str, call: Call, emit: Emit) -> Completion:
        """Those values that begin with what is typed, whatever its case."""
        typed = value.casefold()
        return Completion(tuple(each for each in self.values if each.casefold().startswith(typed)))


def choices_of(function: Authored) -> dict[str, Choices]:
    """A completer for each argument whose hint lists its values: a `Literal`, an `Enum` or a bool."""
    properties: dict[str, JsonObject] = function.schema["properties"]
    found: dict[str, Choices] = {}
    for name, schema in properties.items():
        listed = schema.get("enum") or (["true", "false"] if schema.get("type") == "boolean" else [])
        if listed:
            found[name] = Choices(tuple(value if isinstance(value, str) else str(value) for value in listed))
    return found


def _messages(value: Any) -> Iterable[PromptMessage]:
    for item in cast("Sequence[Any]", value) if isinstance(value, (list, tuple)) else (value,):
        if isinstance(item, PromptMessage):
            yield item
        else:
            yield from (PromptMessage("user", block) for block in to_result(item).content)


def _message(role: Role, content: Any) -> PromptMessage:
    blocks = to_result(content).content
    if len(blocks) != 1:
        raise TypeError(f"a message has one content; got {len(blocks)}: write a message for each")
    return PromptMessage(role, blocks[0])


def _completion(value: Any) -> Completion:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise TypeError(f"a completion is a list of texts, got {type(value).__name__}")
    return Completion(tuple(clean_text(str(each)) for each in cast("Iterable[object]", value)))
