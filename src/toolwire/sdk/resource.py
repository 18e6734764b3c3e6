"""A function as a resource, or as a family of resources under a URI template; it is served elsewhere."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, cast

from toolwire.core.call import Call
from toolwire.core.handler import Emit
from toolwire.core.jsontypes import JsonObject
from toolwire.core.resource import Resource, ResourceTemplate
from toolwire.core.result import Embedded, ResourceContents
from toolwire.core.uri_template import UriTemplate, is_template
from toolwire.sdk import content
from toolwire.sdk.authoring.authored import Authored
from toolwire.sdk.authoring.checks import checked_text
from toolwire.sdk.authoring.coerce import UnfitArguments
from toolwire.sdk.authoring.signature import REQUIRED, Body
from toolwire.sdk.encode import Unencodable, clean_text, encode

JSON = "application/json"
TEXT = "text/plain"


class ResourceOptions(TypedDict, total=False):
    """What `server.resource(uri, …)` can be told; all of it by keyword.

    Attributes:
        name: by default the function's name.
        title: a name for people.
        description: by default the docstring's first paragraph.
        mime_type: of the contents; by default text/plain for a text, application/octet-stream for bytes, and
            application/json for everything else.
        annotations: MCP's, such as `{"audience": ["user"], "priority": 0.5}`.
        inline: run a synchronous function on the event loop, because it never blocks.
    """

    name: str
    title: str | None
    description: str
    mime_type: str | None
    annotations: JsonObject | None
    inline: bool


@dataclass(frozen=True)
class AuthoredResource:
    """A resource that a function gives. `template` is `None` for one with a URI of its own."""

    definition: Resource | ResourceTemplate
    template: UriTemplate | None
    function: Authored
    mime_type: str | None

    async def read(
        self, uri: str, values: Mapping[str, str], call: Call, emit: Emit
    ) -> Sequence[ResourceContents] | None:
        """The contents of `uri`; `None` when the function gives nothing, or the values are not of its types.

        Raises:
            InternalError: the function failed; the message is for the client.
        """
        try:
            return await self.function.ask(values, call, emit, lambda value: contents_of(value, uri, self.mime_type))
        except UnfitArguments:
            return None


def make_resource(fn: Body, uri: str, options: ResourceOptions) -> AuthoredResource:
    """Make a function the resource at `uri`, whose variables are the function's parameters.

    Raises:
        TypeError: the function cannot be one, or its parameters are not the variables.
        ValueError: `uri` has no scheme, or is a template that cannot be matched.
    """
    if ":" not in uri or uri.startswith(":"):
        raise ValueError(f"resource {uri!r}: a URI begins with a scheme, such as 'notes://'")
    template = UriTemplate(checked_text(uri, "uri")) if is_template(uri) else None
    function = Authored.of(fn, "resource", uri, options.get("inline", False))
    _check_variables(function, template)
    mime_type = options.get("mime_type")
    shown: Any = {
        "name": options.get("name") or getattr(fn, "__name__", uri),
        "title": options.get("title"),
        "description": checked_text(options.get("description", function.text), "description") or None,
        "mime_type": mime_type or _usual_type(function.returns),
        "annotations": options.get("annotations"),
    }
    if template is None:
        return AuthoredResource(Resource(uri=uri, **shown), None, function, mime_type)
    return AuthoredResource(ResourceTemplate(uri_template=uri, **shown), template, function, mime_type)


def contents_of(value: Any, uri: str, mime_type: str | None) -> tuple[ResourceContents, ...] | None:
    """What a function returned as contents; `None` says that there is no such resource.

    Raises:
        Unencodable: some of it has no JSON form.
    """
    if value is None:
        return None
    if isinstance(value, (list, tuple)) and any(_is_contents(item) for item in cast("Sequence[Any]", value)):
        return tuple(_contents(item, uri, mime_type) for item in cast("Sequence[Any]", value))
    return (_contents(value, uri, mime_type),)


def _is_contents(value: object) -> bool:
    return isinstance(value, (content.Resource, content.Image, ResourceContents))


def _contents(value: Any, uri: str, mime_type: str | None) -> ResourceContents:
    match value:
        case ResourceContents():
            return value
        case content.Resource():
            block = value.block()
            if not isinstance(block, Embedded):
                raise Unencodable(f"Resource({value.uri!r}) has neither text nor data")
            return block.resource
        case content.Image():
            return ResourceContents(uri, mime_type or value.mime_type, blob=b64encode(value.data).decode())
        case str():
            return ResourceContents(uri, mime_type or TEXT, text=clean_text(str(value)))
        case bytes() | bytearray() | memoryview():
            octets = bytes(cast("bytes", value))
            return ResourceContents(uri, mime_type or content.OCTETS, blob=b64encode(octets).decode())
        case _:
            return ResourceContents(uri, mime_type or JSON, text=encode(value).decode())


def _usual_type(returns: Any) -> str | None:
    """The type that is shown in the list where the author says none."""
    return {str: TEXT, dict: JSON, list: JSON}.get(getattr(returns, "__origin__", returns))


def _check_variables(function: Authored, template: UriTemplate | None) -> None:
    names: tuple[str, ...] = () if template is None else template.names
    missing = [name for name in names if name not in function.names]
    if missing:
        raise TypeError(f"{function.label}: the function needs a parameter for each variable; {missing!r} are missing")
    for parameter in function.parameters:
        if parameter.default is not REQUIRED:
            continue
        if parameter.name not in names:
            raise TypeError(f"{function.label}: {parameter.name!r} is no variable of the URI; give it a default")
        if template is not None and parameter.name in template.optional:
            raise TypeError(f"{function.label}: a URI may leave {parameter.name!r} out; give it a default")
