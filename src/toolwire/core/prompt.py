"""What a server offers to start a conversation with, in MCP's words, and what completes its arguments."""

import hashlib
from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec
from msgspec import Struct

from toolwire.core.call import Call
from toolwire.core.handler import Emit
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import Content

Role = Literal["user", "assistant"]


class PromptArgument(Struct, frozen=True, omit_defaults=True):
    """An argument of a prompt; on the wire its value is a text."""

    name: str
    title: str | None = None
    description: str | None = None
    required: bool = False


class Prompt(Struct, frozen=True, omit_defaults=True):
    """The definition of one prompt, as `prompts/list` shows it."""

    name: str
    title: str | None = None
    description: str | None = None
    arguments: tuple[PromptArgument, ...] = ()
    icons: list[JsonObject] | None = None
    meta: JsonObject | None = msgspec.field(default=None, name="_meta")

    def definition(self) -> JsonObject:
        """The prompt as `prompts/list` shows it, without `_meta`."""
        shown: JsonObject = msgspec.to_builtins(self)
        shown.pop("_meta", None)
        return shown

    def digest(self) -> str:
        """SHA-256 (hex) over everything a reader of the list reads; what consent and pinning compare."""
        return hashlib.sha256(msgspec.json.encode(self.definition(), order="deterministic")).hexdigest()


class PromptMessage(Struct, frozen=True):
    """One message of a prompt."""

    role: Role
    content: Content


class PromptResult(Struct, frozen=True, omit_defaults=True):
    """A prompt with its arguments filled in."""

    messages: tuple[PromptMessage, ...]
    description: str | None = None


class Completion(Struct, frozen=True):
    """What an argument may be, best first; all of it, however long, unless `total` says how much there is."""

    values: tuple[str, ...] = ()
    total: int | None = None


class Prompts(Protocol):
    """A source of prompts. An endpoint that has one advertises `prompts`; one that has none does not know them."""

    def prompts(self) -> Sequence[Prompt]:
        """The prompts offered now, in their order."""
        ...

    async def get(self, name: str, call: Call, emit: Emit) -> PromptResult:
        """The messages of a prompt.

        Args:
            name: which.
            call: who asks, until when, and with which `arguments`.
            emit: takes progress and log lines.

        Raises:
            InvalidParam: there is no such prompt, or an argument is missing or does not fit; `param` names it.
            InternalError: it cannot be made; the message is for the client.
        """
        ...


class Reference(Struct, frozen=True):
    """Whose argument is to be completed: a prompt by its name, or a resource template by its text."""

    kind: Literal["prompt", "resource"]
    name: str


class Completions(Protocol):
    """A source of completions. An endpoint that has one advertises `completions`."""

    async def complete(self, ref: Reference, argument: str, value: str, call: Call, emit: Emit) -> Completion:
        """What `argument` may be.

        Args:
            ref: whose argument it is.
            argument: its name.
            value: what has been typed so far.
            call: who asks, until when, and what is filled in already (`arguments`).
            emit: takes progress and log lines.

        Raises:
            InvalidParam: there is no such prompt, template or argument.
            InternalError: nobody can say; the message is for the client.
        """
        ...
