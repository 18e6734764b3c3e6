"""Resources, prompts and completions of this process, looked up; how a function is called is its owner's business."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from toolwire.core.call import Call
from toolwire.core.errors import InvalidParam, ResourceNotFound
from toolwire.core.handler import Emit
from toolwire.core.prompt import Completion, Prompt, PromptResult, Reference
from toolwire.core.resource import Resource, ResourceTemplate
from toolwire.core.result import ResourceContents
from toolwire.core.uri_template import UriTemplate


class LocalResource(Protocol):
    """A resource, or a family of them, of this process."""

    @property
    def definition(self) -> Resource | ResourceTemplate:
        """What a list shows of it."""
        ...

    async def read(
        self, uri: str, values: Mapping[str, str], call: Call, emit: Emit
    ) -> Sequence[ResourceContents] | None:
        """The contents of `uri`, whose variables have these `values`; `None` when there is no such resource.

        Raises:
            InternalError: it cannot be read; the message is for the client.
        """
        ...


class LocalPrompt(Protocol):
    """A prompt of this process."""

    @property
    def definition(self) -> Prompt:
        """What a list shows of it."""
        ...

    async def get(self, call: Call, emit: Emit) -> PromptResult:
        """The messages for `call.arguments`.

        Raises:
            InvalidParam: an argument is missing or does not fit.
            InternalError: it cannot be made; the message is for the client.
        """
        ...


class LocalCompleter(Protocol):
    """Completes one argument."""

    async def complete(self, value: str, call: Call, emit: Emit) -> Completion:
        """What the argument may be; see `core.prompt.Completions.complete`."""
        ...


class LocalResources:
    """Resources by URI: those with a URI of their own first, then the templates in the order given.

    Raises:
        ValueError: two have the same URI or template.
    """

    def __init__(self, entries: Iterable[LocalResource]) -> None:
        self._plain: dict[str, LocalResource] = {}
        self._families: dict[str, tuple[UriTemplate, LocalResource]] = {}
        for entry in entries:
            shown = entry.definition
            if isinstance(shown, Resource):
                other = self._plain.setdefault(shown.uri, entry)
            else:
                template = UriTemplate(shown.uri_template)
                other = self._families.setdefault(shown.uri_template, (template, entry))[1]
            if other is not entry:
                where = shown.uri if isinstance(shown, Resource) else shown.uri_template
                raise ValueError(f"two resources are at {where!r}; give one another URI")

    def resources(self) -> Sequence[Resource]:
        """The resources, in the order given."""
        return [shown for entry in self._plain.values() if isinstance(shown := entry.definition, Resource)]

    def templates(self) -> Sequence[ResourceTemplate]:
        """The templates, in the order given."""
        shown = [entry.definition for _, entry in self._families.values()]
        return [each for each in shown if isinstance(each, ResourceTemplate)]

    async def read(self, uri: str, call: Call, emit: Emit) -> Sequence[ResourceContents]:
        """The contents of a resource; see `core.resource.Resources.read`."""
        plain = self._plain.get(uri)
        contents = None if plain is None else await plain.read(uri, {}, call, emit)
        if plain is None:
            for template, entry in self._families.values():
                values = template.match(uri)
                if values is not None:
                    contents = await entry.read(uri, values, call, emit)
                    if contents is not None:
                        break
        if not contents:
            raise ResourceNotFound(
                f"there is no resource {uri!r} here; list the resources to see what there is", uri=uri
            )
        return contents


class LocalPrompts:
    """Prompts by name.

    Raises:
        ValueError: two have the same name.
    """

    def __init__(self, entries: Iterable[LocalPrompt]) -> None:
        self._entries: dict[str, LocalPrompt] = {}
        for entry in entries:
            if self._entries.setdefault(entry.definition.name, entry) is not entry:
                raise ValueError(f"two prompts are named {entry.definition.name!r}; rename one")

    def prompts(self) -> Sequence[Prompt]:
        """The prompts, in the order given."""
        return [entry.definition for entry in self._entries.values()]

    async def get(self, name: str, call: Call, emit: Emit) -> PromptResult:
        """The messages of a prompt; see `core.prompt.Prompts.get`."""
        entry = self._entries.get(name)
        if entry is None:
            raise InvalidParam(f"no prompt is named {name!r} here; prompts/list names what there is", param="name")
        return await entry.get(call, emit)


class LocalCompletions:
    """Completions by what they complete.

    Args:
        arguments: the names of the arguments of each prompt and template.
        completers: by whose argument it is and the argument's name; what has none completes to nothing.
    """

    def __init__(
        self, arguments: Mapping[Reference, Sequence[str]], completers: Mapping[tuple[Reference, str], LocalCompleter]
    ) -> None:
        self._arguments = arguments
        self._completers = completers

    async def complete(self, ref: Reference, argument: str, value: str, call: Call, emit: Emit) -> Completion:
        """What `argument` may be; see `core.prompt.Completions.complete`."""
        names = self._arguments.get(ref)
        if names is None:
            raise InvalidParam(f"there is no {ref.kind} {ref.name!r} with arguments here", param="ref")
        if argument not in names:
            raise InvalidParam(f"{ref.name!r} has no argument {argument!r}; it has {list(names)!r}", param="argument")
        completer = self._completers.get((ref, argument))
        return Completion() if completer is None else await completer.complete(value, call, emit)
