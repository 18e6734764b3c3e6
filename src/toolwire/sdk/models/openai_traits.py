"""What OpenAI's models take, as far as their names tell, and which schemas they can be held to; no wire's shapes."""

import re
from collections.abc import Mapping
from typing import Any, cast

from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.sdk.messages import LLMRequest

_LEAST_EFFORT = (
    (re.compile(r"gpt-6\.[12]-(?:sol|astra)|o\d"), "low"),
    (re.compile(r"gpt-5(?:-(?!chat)|$)"), "minimal"),
    (re.compile(r"gpt-(?:5\.\d|[6-9])"), "none"),
)
"""How little a model can be told to think; the first pattern at the start of its name counts, others do not think."""


def effort_of(request: LLMRequest) -> str | None:
    """How hard the model shall think, or `None` for as hard as it does by itself."""
    if request.thinking != "off":
        return request.effort
    name = request.model.rsplit("/", 1)[-1]
    return next((effort for pattern, effort in _LEAST_EFFORT if pattern.match(name)), None)


def chat_effort(request: LLMRequest) -> str | None:
    """The same for Chat Completions, whose highest effort is "xhigh"."""
    effort = effort_of(request)
    return "xhigh" if effort == "max" else effort


def reasoning_of(request: LLMRequest) -> JsonObject:
    """The field `reasoning` of the Responses API; empty for what the model does by itself."""
    wanted = request.thinking
    if isinstance(wanted, Mapping):
        return dict(cast("Mapping[str, Any]", wanted))
    found: JsonObject = {}
    effort = effort_of(request)
    if effort is not None:
        found["effort"] = effort
    if wanted in ("on", "adaptive"):
        found["summary"] = "auto"
    return found


def fits_strict(schema: JsonObject) -> bool:
    """Whether the API can hold an answer to `schema`: every object closed, and all of its properties required.

    Spec: OpenAI API v1, structured outputs, supported schemas.
    """
    properties = as_object(schema.get("properties"))
    if properties is not None or schema.get("type") == "object":
        named = properties or {}
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(named):
            return False
    return not _UNSUPPORTED & schema.keys() and all(fits_strict(inner) for inner in _inner(schema))


_UNSUPPORTED = frozenset(
    {"allOf", "not", "dependentRequired", "dependentSchemas", "if", "then", "else", "oneOf", "patternProperties"}
)


def _inner(schema: JsonObject) -> list[JsonObject]:
    found = [as_object(schema.get("items"))]
    for key in ("properties", "$defs", "definitions"):
        found.extend(as_object(inner) for inner in (as_object(schema.get(key)) or {}).values())
    choices: Any = schema.get("anyOf", ())
    found.extend(as_object(choice) for choice in choices)
    return [inner for inner in found if inner is not None]
