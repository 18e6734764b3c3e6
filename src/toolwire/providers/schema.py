"""JSON Schema as a compiled check with readable findings; it never fetches a schema from anywhere.

Spec: JSON Schema 2020-12, which is also what MCP takes a schema for that names no `$schema` (SEP-2106).
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec

from toolwire.core.errors import InvalidParam
from toolwire.core.jsontypes import JsonObject
from toolwire.core.schema import Violation

if TYPE_CHECKING:
    import jsonschema_rs

MAX_SCHEMA_BYTES = 64 * 1024
MAX_SCHEMA_DEPTH = 64
MAX_FINDINGS = 10
MAX_SHOWN = 120
"""Characters of an offending value in a message: enough to recognise it, too little to repeat a document."""

_REPAIR_ROUNDS = 3
_BACKTRACK_LIMIT = 100_000
"""Steps a pattern may take before the text counts as not matching: patterns come from strangers, too."""

_BARE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_INDEX = re.compile(r"0|[1-9][0-9]*")
_JSON_STARTS = ("{", "[", "-", "t", "f", "n", *"0123456789")


class Validator:
    """A compiled schema. It is safe to use from several threads."""

    def __init__(self, compiled: "jsonschema_rs.Validator") -> None:
        self._compiled = compiled

    def valid(self, value: Any) -> bool:
        """Whether `value` fits; what cannot be JSON does not."""
        try:
            return self._compiled.is_valid(value)
        except (ValueError, TypeError, OverflowError, RecursionError):
            return False

    def check(self, value: Any) -> list[Violation]:
        """What is wrong with `value`, at most `MAX_FINDINGS` of it; empty, and quick, when nothing is."""
        if self.valid(value):
            return []
        try:
            errors = list(self._compiled.iter_errors(value))
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            return [Violation("", f"cannot be checked: {_short(str(error))}")]
        found = dict.fromkeys(_finding(leaf) for error in errors for leaf in _leaves(error))
        return sorted(found, key=lambda finding: finding.path)[:MAX_FINDINGS]

    def repaired(self, value: JsonObject) -> JsonObject | None:
        """`value` with texts decoded that the schema refuses and whose content it takes, or `None`.

        Models write `"[1, 2]"` or `"3"` where a list or a number is wanted. A text that the schema takes as a text is
        never touched (mcp.md S27).
        """
        mended: Any = msgspec.to_builtins(value)
        for _ in range(_REPAIR_ROUNDS):
            if not self._decode_refused(mended):
                return None
            if self.valid(mended):
                return mended
        return None

    def _decode_refused(self, value: Any) -> bool:
        """Decode, in place, the refused texts that hold JSON; says whether there was one."""
        changed = False
        try:
            errors = list(self._compiled.iter_errors(value))
        except (ValueError, TypeError, OverflowError, RecursionError):
            return False
        for leaf in (leaf for error in errors for leaf in _leaves(error)):
            path = list(leaf.instance_path)
            text = _at(value, path)
            decoded = _decoded(text) if isinstance(text, str) and path else text
            if decoded is not text:
                _at(value, path[:-1])[path[-1]] = decoded
                changed = True
        return changed


def compile_validator(schema: JsonObject) -> Validator:
    """Compile `schema` once; costs about half a millisecond.

    Raises:
        InvalidParam: it is larger than `MAX_SCHEMA_BYTES`, deeper than `MAX_SCHEMA_DEPTH`, refers to another
            document, or is not a JSON Schema of a known draft.
    """
    import jsonschema_rs  # noqa: PLC0415 -- heavy, and writing tools does not need it

    _check_size(schema)
    options = jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACK_LIMIT)
    try:
        return Validator(jsonschema_rs.validator_for(schema, retriever=_refuse_remote, pattern_options=options))
    except ValueError as error:
        reason = str(getattr(error, "message", error)).partition("\n")[0]
        raise InvalidParam(f"the schema cannot be used: {_short(reason, 300)}") from error


def explain(violations: Sequence[Violation]) -> str:
    """All violations in one line for a model or a person: `city: is missing; filters[0].size: must be …`."""
    return "; ".join(f"{_readable(v.path)}: {v.message}" if v.path else v.message for v in violations)


def pointer(parts: Iterable[str | int]) -> str:
    """The JSON Pointer of a path (RFC 6901)."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)


def _readable(path: str) -> str:
    """A JSON Pointer as people write paths: `filters[0].name`."""
    text = ""
    for part in path.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if _INDEX.fullmatch(name):
            text += f"[{name}]"
        elif _BARE_NAME.fullmatch(name):
            text += f".{name}" if text else name
        else:
            text += f"[{_shown(name)}]"
    return text


def _refuse_remote(uri: str) -> Any:
    raise ValueError(f"{uri!r} is another document; put it under $defs")


def _check_size(schema: JsonObject) -> None:
    try:
        size = len(msgspec.json.encode(schema))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidParam(f"the schema is not JSON: {_short(str(error))}") from error
    if size > MAX_SCHEMA_BYTES:
        raise InvalidParam(f"the schema has {size} bytes, more than {MAX_SCHEMA_BYTES}; make it smaller")
    level: list[Any] = [schema]
    for _ in range(MAX_SCHEMA_DEPTH):
        level = [child for part in level for child in _children(part)]
        if not level:
            return
    raise InvalidParam(f"the schema is nested more than {MAX_SCHEMA_DEPTH} deep; move parts under $defs")


def _children(part: Any) -> Iterable[Any]:
    values: Iterable[Any] = ()
    if isinstance(part, dict):
        values = cast("JsonObject", part).values()
    elif isinstance(part, list):
        values = cast("list[Any]", part)
    return [value for value in values if isinstance(value, (dict, list))]


def _leaves(error: "jsonschema_rs.ValidationError") -> Iterable["jsonschema_rs.ValidationError"]:
    """The errors behind an error: of a union, those of the one member whose type the value has, if there is one."""
    kind = cast("Any", error.kind)
    if kind.name not in ("anyOf", "oneOf") or not all(kind.context):  # of oneOf, a branch without errors is too many
        return [error]
    near = [branch for branch in kind.context if not _is_of_other_type(branch, error)]
    return [leaf for inner in near[0] for leaf in _leaves(inner)] if len(near) == 1 else [error]


def _finding(error: "jsonschema_rs.ValidationError") -> Violation:
    kind = cast("Any", error.kind)
    path = list(error.instance_path)
    if kind.name == "required":
        return Violation(pointer([*path, kind.property]), "is missing")
    if kind.name == "additionalProperties" and len(kind.unexpected) == 1:
        return Violation(pointer([*path, kind.unexpected[0]]), "is not a known argument")
    say = _SAY.get(kind.name)
    return Violation(pointer(path), say(kind, error) if say else _short(error.message, 300))


def _say_type(kind: Any, error: "jsonschema_rs.ValidationError") -> str:
    return f"must be {_article(' or '.join(kind.types))}, got {_shown(error.instance)}"


def _say_choices(kind: Any, error: "jsonschema_rs.ValidationError") -> str:
    return f"must be one of {_short(', '.join(map(_shown, kind.options)), 300)}, got {_shown(error.instance)}"


def _say_alternatives(kind: Any, error: "jsonschema_rs.ValidationError") -> str:
    """A union fails as a whole; the reader wants the types, not the machinery."""
    branches: list[list[Any]] = kind.context
    if not all(branches):
        return _short(error.message, 300)
    types = [branch[0] for branch in branches if _is_of_other_type(branch, error)]
    if len(types) == len(branches):
        wanted = _article(" or ".join(name for other in types for name in other.kind.types))
        return f"must be {wanted}, got {_shown(error.instance)}"
    return f"fits none of the alternatives, got {_shown(error.instance)}"


def _is_of_other_type(branch: list[Any], error: "jsonschema_rs.ValidationError") -> bool:
    return len(branch) == 1 and branch[0].kind.name == "type" and branch[0].instance_path == error.instance_path


_SAY: dict[str, Callable[[Any, "jsonschema_rs.ValidationError"], str]] = {
    "type": _say_type,
    "enum": _say_choices,
    "anyOf": _say_alternatives,
    "oneOf": _say_alternatives,
    "minimum": lambda kind, error: f"must be at least {kind.limit}, got {_shown(error.instance)}",
    "maximum": lambda kind, error: f"must be at most {kind.limit}, got {_shown(error.instance)}",
}


def _article(noun: str) -> str:
    return noun if noun == "null" else f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _shown(value: Any) -> str:
    try:
        return _short(msgspec.json.encode(value).decode())
    except (TypeError, ValueError, RecursionError):
        return type(value).__name__


def _short(text: str, limit: int = MAX_SHOWN) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _decoded(text: str) -> Any:
    """The JSON in `text`, or `text` itself when there is none."""
    if not text.strip().startswith(_JSON_STARTS):
        return text
    try:
        decoded: Any = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return text
    return text if isinstance(decoded, str) else decoded


def _at(value: Any, path: Iterable[str | int]) -> Any:
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):  # an earlier repair replaced what was here
            return None
    return value
