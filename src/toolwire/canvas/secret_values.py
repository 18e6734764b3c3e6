"""Takes secrets out of a call's arguments before anybody keeps or shows them; what is secret, the tool's schema says.

A value is secret whose schema has `"writeOnly": true` or `"format": "password"` (cards.md decision 38). It does not
look for what may be a secret by its looks.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, cast

from toolwire.core.jsontypes import JsonObject, as_object

HIDDEN: Final = "••••••"
"""What stands where a secret was."""


def without_secrets(arguments: JsonObject, schema: JsonObject) -> tuple[JsonObject, tuple[str, ...]]:
    """Arguments to keep and to show, and the JSON pointers to what was taken out of them.

    Args:
        arguments: as the tool gets them.
        schema: the tool's `inputSchema`.
    """
    paths: list[str] = []
    kept = _kept(arguments, (schema,), schema, "", paths)
    shown = as_object(kept)
    return ({} if shown is None else shown), tuple(paths)


def _kept(value: Any, schemas: Iterable[JsonObject], root: JsonObject, path: str, paths: list[str]) -> Any:
    every = _with_forms(schemas, root)
    if any(schema.get("writeOnly") is True or schema.get("format") == "password" for schema in every):
        paths.append(path)
        return HIDDEN
    if not every:
        return value
    found = as_object(value)
    if found is not None:
        return {
            name: _kept(one, _parts(every, name), root, f"{path}/{_escaped(name)}", paths)
            for name, one in found.items()
        }
    if isinstance(value, list):
        inner = _objects([schema.get("items") for schema in every])
        values = cast(list[Any], value)
        return [_kept(one, inner, root, f"{path}/{at}", paths) for at, one in enumerate(values)]
    return value


def _with_forms(schemas: Iterable[JsonObject], root: JsonObject) -> list[JsonObject]:
    """Schemas, and those that they refer to or are made of; each once, since they may refer to each other."""
    found: dict[int, JsonObject] = {}
    waiting = list(schemas)
    while waiting:
        schema = waiting.pop()
        if id(schema) in found:
            continue
        found[id(schema)] = schema
        target = _referred(schema.get("$ref"), root)
        if target is not None:
            waiting.append(target)
        for word in ("anyOf", "oneOf", "allOf"):
            waiting += _objects(schema.get(word))
    return list(found.values())


def _objects(values: Any) -> list[JsonObject]:
    listed = cast(list[Any], values) if isinstance(values, list) else []
    return [one for value in listed if (one := as_object(value)) is not None]


def _parts(schemas: Iterable[JsonObject], name: str) -> Iterator[JsonObject]:
    for schema in schemas:
        properties = as_object(schema.get("properties")) or {}
        part = as_object(properties.get(name, schema.get("additionalProperties")))
        if part is not None:
            yield part


def _referred(to: Any, root: JsonObject) -> JsonObject | None:
    if not isinstance(to, str) or not to.startswith("#"):
        return None
    here: JsonObject | None = root
    for step in to[1:].split("/")[1:]:
        here = None if here is None else as_object(here.get(step.replace("~1", "/").replace("~0", "~")))
    return here


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
