"""What an author wrote beside a tool's function, checked when it is written; it does not look at type hints."""

import hashlib
import inspect
import math
import types
from collections.abc import Mapping
from typing import Any, Literal, cast, get_args

import msgspec

from toolwire.core.jsontypes import JsonObject
from toolwire.core.names import valid_tool_name
from toolwire.core.tool import RiskLevel, TaskMode

VERSION_LEN = 16
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_BOOLEAN_OPTIONS = ("concurrency_safe", "idempotent", "structured", "validate", "strict", "inline")


def checked_options(options: Mapping[str, Any], known: frozenset[str]) -> None:
    """Refuse options that do not exist or are of the wrong kind.

    Raises:
        TypeError: names the option.
    """
    for name, value in options.items():
        if name not in known:
            raise TypeError(f"tool() has no option {name!r}; it has {', '.join(sorted(known))}")
        if name in _BOOLEAN_OPTIONS and not isinstance(value, bool):
            raise TypeError(f"tool({name}) must be True or False, got {value!r}")
        if name in ("name", "version", "description", "title") and not isinstance(value, str):
            raise TypeError(f"tool({name}) must be a text, got {value!r}")
    if options.get("version") == "":
        raise ValueError("tool(version) must not be empty; it is part of the tool's identity")


def checked_name(name: str) -> str:
    """A name that every model's API takes.

    Raises:
        ValueError: the name has other characters, is empty or too long (gateway.md D28).
    """
    if not valid_tool_name(name):
        raise ValueError(f"tool(name) must be 1 to 64 of A-Z, a-z, 0-9, '_' and '-', got {name!r}; give name=…")
    return name


def checked_risk(level: str) -> RiskLevel:
    """One of the three risk levels.

    Raises:
        ValueError: any other.
    """
    if level not in get_args(RiskLevel):
        raise ValueError(f"tool(risk_level) must be 'low', 'medium' or 'high', got {level!r}")
    return cast("RiskLevel", level)


def checked_task(mode: str) -> TaskMode:
    """Whether calls are tasks.

    Raises:
        ValueError: none of the words for it.
    """
    if mode not in ("never", "optional", "required", "later"):  # "maybe" is for what others decide
        raise ValueError(f"tool(task) must be 'never', 'optional', 'required' or 'later', got {mode!r}")
    return cast("TaskMode", mode)


def checked_timeout(timeout: float | None, option: str = "timeout") -> float | None:
    """A time-out in seconds.

    Raises:
        TypeError: not a number.
        ValueError: not positive or not finite.
    """
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):  # pyright: ignore[reportUnnecessaryIsInstance] -- authors do not all check types
        raise TypeError(f"tool({option}) must be seconds as a number, got {timeout!r}")
    if not (math.isfinite(timeout) and timeout > 0):
        raise ValueError(f"tool({option}) must be a positive number of seconds, got {timeout!r}")
    return float(timeout)


def checked_text(text: str, what: str) -> str:
    """A text without lone surrogates, which no reader could be sent.

    Raises:
        ValueError: it has one.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"tool({what}) is not valid Unicode: {error}") from None
    return text


def checked_annotations(annotations: JsonObject | None) -> JsonObject | None:
    """A copy of MCP's hints about a tool; unknown ones pass.

    Raises:
        TypeError: a known hint is not a boolean, or it is no dict.
    """
    if annotations is None:
        return None
    copy = _json_object(annotations, "annotations")
    for hint in _HINTS:
        if hint in copy and not isinstance(copy[hint], bool):
            raise TypeError(f"tool(annotations): {hint} must be True or False, got {copy[hint]!r}")
    return copy


def checked_schema(schema: JsonObject, what: Literal["input_schema", "output_schema"]) -> JsonObject:
    """A deep copy of a hand-written schema; an input schema without a type gets the one it must have.

    Raises:
        TypeError: not a dict that JSON can carry.
        ValueError: an input schema of another type than object, or a keyword that cannot mean what it says.
    """
    copy = _json_object(schema, what)
    if what == "input_schema":
        copy = copy if "type" in copy else {"type": "object", **copy}
        if copy["type"] != "object":
            raise ValueError(f"tool(input_schema) must have the type 'object' at its root, got {copy['type']!r}")
    _check_keywords(copy, what)
    return copy


def version_of(given: str | None, schema: JsonObject, body: Any) -> str:
    """The author's version, or a digest of the schema and the source: the same in every process (sdk.md §4.1)."""
    if given is not None:
        return given
    digest = hashlib.sha256(msgspec.json.encode(schema, order="deterministic"))
    digest.update(_source(body))
    return digest.hexdigest()[:VERSION_LEN]


def _json_object(value: Any, what: str) -> JsonObject:
    if not isinstance(value, dict):
        raise TypeError(f"tool({what}) must be a dict, got {type(value).__name__}")
    try:
        return msgspec.json.decode(msgspec.json.encode(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"tool({what}) must hold JSON values only: {error}") from error


def _check_keywords(schema: JsonObject, path: str) -> None:
    """The mistakes that a model's API would answer with a 400 (sdk.md §3.8); serving checks the whole meta-schema."""
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        raise ValueError(f"tool({path}.properties) must be an object of schemas, got {properties!r}")
    for name, part in cast("JsonObject", properties).items():
        if isinstance(part, dict):
            _check_keywords(cast("JsonObject", part), f"{path}.properties.{name}")
        elif not isinstance(part, bool):
            raise ValueError(f"tool({path}.properties.{name}) must be a schema, got {part!r}")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in cast("list[Any]", required)):
        raise ValueError(f"tool({path}.required) must be a list of names, got {required!r}")
    if "enum" in schema and not isinstance(schema["enum"], list):
        raise ValueError(f"tool({path}.enum) must be a list, got {schema['enum']!r}")
    kinds = schema.get("type", [])
    for kind in cast("list[Any]", kinds if isinstance(kinds, list) else [kinds]):
        if kind not in ("string", "number", "integer", "boolean", "object", "array", "null"):
            raise ValueError(f"tool({path}.type) must be a JSON type, got {kind!r}")


def _source(body: Any) -> bytes:
    try:
        return inspect.getsource(body).encode(errors="surrogatepass")
    except (OSError, TypeError):
        code = getattr(body, "__code__", None)
        return b"" if code is None else repr(_bytecode(code)).encode(errors="surrogatepass")


def _bytecode(code: types.CodeType) -> tuple[Any, ...]:
    """Code without what differs between two equal processes: addresses, file names and the order of sets."""
    constants = [
        _bytecode(const) if isinstance(const, types.CodeType) else _constant(const) for const in code.co_consts
    ]
    return (code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants)


def _constant(value: Any) -> str:
    if isinstance(value, frozenset):
        return f"frozenset({sorted(map(repr, cast('frozenset[Any]', value)))})"
    return repr(value)
