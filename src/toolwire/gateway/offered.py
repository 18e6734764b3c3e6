"""What an agent offers beside tools, read from its registration; it asks no agent and serves nothing.

A registration is taken whole or not at all (gateway.md D28). What stands in it with its contents can be given without
the agent.
"""

import binascii
from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

from toolwire.core.change import Change, ListChanged, ResourceUpdated
from toolwire.core.errors import InvalidAgentResponse, InvalidParam
from toolwire.core.jsontypes import JsonObject
from toolwire.core.prompt import Prompt, PromptArgument, PromptMessage, PromptResult
from toolwire.core.resource import Resource, ResourceTemplate
from toolwire.core.result import ResourceContents
from toolwire.core.uri_template import UriTemplate
from toolwire.gateway.about import OWN_URIS
from toolwire.providers.agent_reply import checked_block

_T = TypeVar("_T")

MAX_LISTED: Final = 1000
"""Resources, and prompts, that an agent may have."""


class Offered(Struct, frozen=True):
    """What an agent offers beside tools.

    `patterns` are those of the templates that a URI can be matched against; an agent's template that is none of ours is
    `None` there, and whether it fits is the agent's to say. `contents` and `results` are what the registration holds.
    """

    resources: tuple[Resource, ...] = ()
    templates: tuple[ResourceTemplate, ...] = ()
    patterns: tuple[UriTemplate | None, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    contents: dict[str, ResourceContents] = {}
    results: dict[str, PromptResult] = {}

    def may_have(self, uri: str) -> bool:
        """Whether a resource of the agent's can be at `uri`."""
        if any(resource.uri == uri for resource in self.resources):
            return True
        return any(pattern is None or pattern.match(uri) is not None for pattern in self.patterns)

    def has_prompt(self, name: str) -> bool:
        """Whether a prompt of that name is listed."""
        return any(prompt.name == name for prompt in self.prompts)


class _Listed(Struct, frozen=True, rename="camel"):
    """A resource or a template as registered."""

    uri: str | None = None
    uri_template: str | None = None
    name: str | None = None
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: JsonObject | None = None
    icons: list[JsonObject] | None = None
    meta: JsonObject | None = msgspec.field(default=None, name="_meta")
    text: str | None = None
    blob: str | None = None

    @property
    def label(self) -> str:
        """The name; without one, the end of the URI."""
        where = self.uri or self.uri_template or ""
        return self.name or where.rstrip("/").rpartition("/")[2] or where


class _ListedPrompt(Struct, frozen=True):
    """A prompt as registered."""

    name: str
    title: str | None = None
    description: str | None = None
    arguments: tuple[PromptArgument, ...] = ()
    icons: list[JsonObject] | None = None
    meta: JsonObject | None = msgspec.field(default=None, name="_meta")
    messages: tuple[PromptMessage, ...] | None = None


def offered_of(resources: Sequence[JsonObject], prompts: Sequence[JsonObject]) -> Offered:
    """Read what a registration lists.

    Raises:
        InvalidParam: an entry is malformed, stands twice, or takes what is the gateway's; `param` says which.
    """
    for what, entries in (("resources", resources), ("prompts", prompts)):
        if len(entries) > MAX_LISTED:
            raise InvalidParam(f"{len(entries)} {what} are more than the {MAX_LISTED} an agent may have", param=what)
    plain: dict[str, Resource] = {}
    families: dict[str, ResourceTemplate] = {}
    contents: dict[str, ResourceContents] = {}
    for position, entry in enumerate(resources):
        where = f"resources[{position}]"
        listed = _read(entry, _Listed, where)
        if listed.uri_template is not None:
            _add_template(listed, where, families)
        else:
            _add_resource(listed, where, plain, contents)
    shown, results = _prompts_of(prompts)
    patterns = tuple(_pattern_of(text) for text in families)
    return Offered(tuple(plain.values()), tuple(families.values()), patterns, shown, contents, results)


def changes_between(before: Offered, after: Offered) -> Iterator[Change]:
    """What a reader of the lists, and of what is held with them, would notice."""
    if (before.resources, before.templates) != (after.resources, after.templates):
        yield ListChanged("resources")
    if before.prompts != after.prompts:
        yield ListChanged("prompts")
    for uri, contents in after.contents.items():
        if before.contents.get(uri, contents) != contents:
            yield ResourceUpdated(uri)


def _add_resource(
    listed: _Listed, where: str, plain: dict[str, Resource], contents: dict[str, ResourceContents]
) -> None:
    uri = listed.uri or ""
    _check_uri(uri, f"{where}.uri")
    if uri in OWN_URIS:
        raise InvalidParam(f"{uri!r} tells of the agent itself and is the gateway's to give", param=f"{where}.uri")
    if uri in plain:
        raise InvalidParam(f"two resources are at {uri!r}; give one another URI", param=f"{where}.uri")
    plain[uri] = Resource(
        uri,
        listed.label,
        listed.title,
        listed.description,
        listed.mime_type,
        listed.size,
        listed.annotations,
        listed.icons,
        listed.meta,
    )
    if listed.text is not None and listed.blob is not None:
        raise InvalidParam(f"resource {uri!r} has both text and blob; send one of them", param=f"{where}.blob")
    if listed.blob is not None:
        _check_base64(listed.blob, f"{where}.blob")
    if listed.text is not None or listed.blob is not None:
        contents[uri] = ResourceContents(uri, listed.mime_type, listed.text, listed.blob)


def _add_template(listed: _Listed, where: str, families: dict[str, ResourceTemplate]) -> None:
    text = listed.uri_template or ""
    if listed.uri is not None or listed.text is not None or listed.blob is not None:
        raise InvalidParam("an entry with a uriTemplate has neither uri nor text nor blob", param=where)
    _check_uri(text, f"{where}.uriTemplate")
    if text in families:
        raise InvalidParam(f"two templates are {text!r}; remove one", param=f"{where}.uriTemplate")
    families[text] = ResourceTemplate(
        text,
        listed.label,
        listed.title,
        listed.description,
        listed.mime_type,
        listed.annotations,
        listed.icons,
        listed.meta,
    )


def _prompts_of(entries: Sequence[JsonObject]) -> tuple[tuple[Prompt, ...], dict[str, PromptResult]]:
    shown: dict[str, Prompt] = {}
    results: dict[str, PromptResult] = {}
    for position, entry in enumerate(entries):
        where = f"prompts[{position}]"
        listed = _read(entry, _ListedPrompt, where)
        if not listed.name:
            raise InvalidParam("a prompt needs a name that is not empty", param=f"{where}.name")
        if listed.name in shown:
            raise InvalidParam(f"two prompts are named {listed.name!r}; rename one", param=f"{where}.name")
        shown[listed.name] = Prompt(
            listed.name, listed.title, listed.description, listed.arguments, listed.icons, listed.meta
        )
        if listed.messages is not None:
            if listed.arguments:
                raise InvalidParam(
                    f"prompt {listed.name!r} has arguments, so its messages are the agent's to make; leave them out",
                    param=f"{where}.messages",
                )
            results[listed.name] = PromptResult(_checked(listed.messages, f"{where}.messages"), listed.description)
    return tuple(shown.values()), results


def _read(entry: JsonObject, kind: type[_T], where: str) -> _T:
    try:
        return msgspec.convert(entry, kind)
    except msgspec.ValidationError as error:
        raise InvalidParam(f"{where} is malformed: {error}", param=where) from None


def _check_uri(uri: str, where: str) -> None:
    if ":" not in uri or uri.startswith(":") or not uri.isprintable():
        raise InvalidParam(f"{uri!r} is no URI; it begins with a scheme, such as 'notes://'", param=where)


def _checked(messages: tuple[PromptMessage, ...], where: str) -> tuple[PromptMessage, ...]:
    try:
        return tuple(PromptMessage(message.role, checked_block(message.content)) for message in messages)
    except InvalidAgentResponse as error:
        raise InvalidParam(f"{where} has what no client can read: {error.message}", param=where) from None


def _check_base64(data: str, where: str) -> None:
    try:
        binascii.a2b_base64(data, strict_mode=True)
    except (binascii.Error, ValueError):
        raise InvalidParam("blob is not base64", param=where) from None


def _pattern_of(text: str) -> UriTemplate | None:
    try:
        return UriTemplate(text)
    except ValueError:  # RFC 6570 has more than we can match
        return None
