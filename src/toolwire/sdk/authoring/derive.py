"""The schemas of a typed function, from its signature; the hints themselves are read elsewhere."""

from collections.abc import Mapping
from typing import Annotated, Any, get_args, get_origin

from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import Block, Result
from toolwire.sdk.authoring.signature import REQUIRED, Parameter, Signature
from toolwire.sdk.content import ContentRef, Image, Resource
from toolwire.sdk.hints.records import NO_DEFAULT, is_model, is_positional, members
from toolwire.sdk.hints.schema import Inexpressible, SchemaWriter, described, see_through, with_default
from toolwire.sdk.result import ToolResult


def derive_input(label: str, signature: Signature, descriptions: Mapping[str, str]) -> JsonObject:
    """The schema of the arguments.

    `x: T = d` is optional with a default; `x: T | None` without one is required and may be null; a parameter without
    `Annotated` text is described by the docstring (sdk.md §3.10).

    Args:
        label: the tool's name, for errors.
        signature: the function's.
        descriptions: the docstring's words on each parameter.

    Raises:
        TypeError: a hint has no JSON Schema; the message names the parameter.
    """
    writer = SchemaWriter()
    properties: JsonObject = {}
    for parameter in signature.parameters:
        try:
            schema = writer.write(parameter.hint)
        except (Inexpressible, NameError, TypeError) as error:
            raise TypeError(
                f"{label}: parameter {parameter.name!r}: {error}; use a type that JSON can carry, or give input_schema="
            ) from error
        if "description" not in schema or not _says_itself(parameter):
            schema = described(schema, descriptions.get(parameter.name))
        default = NO_DEFAULT if parameter.default is REQUIRED else parameter.default
        properties[parameter.name] = with_default(schema, default)
    return writer.root(properties, [p.name for p in signature.parameters if p.default is REQUIRED])


def derive_output(hint: Any, structured: bool | None) -> tuple[JsonObject | None, bool]:
    """The schema of what a function returns, and whether it puts the value into `{"result": …}`.

    A record (dataclass, TypedDict, Struct, pydantic model …) says what it holds, so it has a schema unless
    `structured` is false; anything else only when `structured` is true.

    Raises:
        TypeError: `structured` is true and the hint is missing or has no JSON Schema.
    """
    hint = see_through(hint)
    if structured is False or (structured is None and not _is_record(hint)):
        return None, False
    writer = SchemaWriter(serialized=True)
    try:
        if hint is REQUIRED:
            raise Inexpressible("there is no return hint")
        schema = writer.write(hint)
    except (Inexpressible, NameError, TypeError) as error:
        if structured is None:
            return None, False
        raise TypeError(f"structured=True: {error}; give output_schema=") from error
    if schema.get("type") == "object":
        return writer.finish(schema), False
    return writer.root({"result": schema}, ["result"]), True


def _is_record(hint: Any) -> bool:
    cls = get_origin(hint) or hint
    if cls is Annotated:
        return _is_record(see_through(get_args(hint)[0]))
    if not isinstance(cls, type) or issubclass(cls, (ToolResult, Result, ContentRef, Image, Resource, Block)):
        return False  # these become content, not data
    return is_model(cls) or (members(cls) is not None and not is_positional(cls))


def _says_itself(parameter: Parameter) -> bool:
    """Whether the description in the schema is the parameter's own rather than its class'."""
    return get_origin(see_through(parameter.hint)) is Annotated
