"""What an answer to a server's form leaves out, filled in from the form's defaults; it asks nobody.

Spec: MCP 2025-11-25, client/elicitation (SEP-1034).
"""

from collections.abc import Mapping
from typing import Any, cast

from toolwire.core.jsontypes import JsonObject
from toolwire.providers.remote_server import Ask


def with_defaults(params: JsonObject, result: JsonObject) -> JsonObject:
    """The answer `result` to the question `params` (`elicitation/create`), completed if it accepts a form.

    What the answer says is never changed; a field with `default` that it does not have is added.
    """
    schema: Any = params.get("requestedSchema")
    if result.get("action") != "accept" or params.get("mode", "form") != "form" or not isinstance(schema, Mapping):
        return result
    fields: Any = cast("Mapping[str, Any]", schema).get("properties")
    if not isinstance(fields, Mapping):
        return result
    content = dict(cast("JsonObject", result.get("content") or {}))
    for name, field in cast("Mapping[str, Any]", fields).items():
        if isinstance(field, Mapping) and "default" in field and name not in content:
            content[name] = cast("Any", field["default"])
    return {**result, "content": content}


def completing(ask: Ask) -> Ask:
    """`ask`, its answers completed with defaults."""

    async def answer(params: JsonObject) -> JsonObject:
        return with_defaults(params, await ask(params))

    return answer
