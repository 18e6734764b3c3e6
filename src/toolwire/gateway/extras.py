"""Takes the gateway's own arguments out of a call's (gateway.md D8, D11); it does not look at files or claims.

`attachments` and `idempotency_key` are taken without being in a tool's schema, and taken before the schema is checked,
so that `additionalProperties: false` does not refuse them. A tool that declares one of them itself gets it too. Where
an owner wants them shown, the list of tools has them in each schema (`advertised`).
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, cast

import msgspec

from toolwire.core.call import Attachment
from toolwire.core.errors import InvalidParam
from toolwire.core.jsontypes import JsonObject
from toolwire.engine.claims import MAX_KEY_LEN, check_key
from toolwire.gateway.file_record import MAX_FILE_ID_LEN, check_content_type, check_filename
from toolwire.surfaces.endpoint import Extras

ATTACHMENTS = "attachments"
IDEMPOTENCY_KEY = "idempotency_key"
CONTEXT_ID = "context_id"
GATEWAY_ARGUMENTS = (ATTACHMENTS, IDEMPOTENCY_KEY)
MESSAGE_ARGUMENTS = (*GATEWAY_ARGUMENTS, CONTEXT_ID)

ATTACHMENT_SAMPLES: tuple[list[JsonObject], ...] = (
    [{"file_id": "file_abc123"}],
    [{"file_id": "f" * 128, "filename": "q3.pdf", "content_type": "application/pdf"}] * 16,
)
"""What a tool's own `attachments` must take to be compatible with ours (gateway.md 19)."""

ADVERTISED: JsonObject = {
    ATTACHMENTS: {
        "type": "array",
        "description": "Files for the call, uploaded to the gateway before",
        "items": {
            "type": "object",
            "properties": {
                "file_id": {"type": "string", "minLength": 1, "maxLength": MAX_FILE_ID_LEN},
                "filename": {"type": "string"},
                "content_type": {"type": "string"},
            },
            "required": ["file_id"],
            "additionalProperties": False,
        },
    },
    IDEMPOTENCY_KEY: {
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_KEY_LEN,
        "description": "The same call under the same key runs once",
    },
}
"""What a list of tools shows of ours where it does (gateway.md D11)."""

KEY_SAMPLES = ("user_7:q3_summary", "k", "3f2b8a52-4b5e-4d0c-9c43-9f1f8d0c9b11", "ä" * 255)
"""What a tool's own `idempotency_key` must take to be compatible with ours (gateway.md D8)."""


class AgentExtras:
    """Splits the arguments of one agent's tools into the tool's own and the gateway's; what was sent is left as it is.

    Args:
        kept: by tool, the names of ours that the tool declares too: they are read, and stay in its arguments.
        message_tool: the tool that takes a `context_id` besides (gateway.md D12); `None` when there is none.
    """

    __slots__ = ("_kept", "_message_tool")

    def __init__(self, kept: Mapping[str, Collection[str]], message_tool: str | None = None) -> None:
        self._kept = kept
        self._message_tool = message_tool

    def __call__(self, tool: str, arguments: JsonObject) -> Extras:
        """See `surfaces.endpoint.TakeExtras`."""
        taken = GATEWAY_ARGUMENTS if tool != self._message_tool else MESSAGE_ARGUMENTS
        if arguments.keys().isdisjoint(taken):
            return Extras(arguments)
        key = check_key(arguments[IDEMPOTENCY_KEY]) if IDEMPOTENCY_KEY in arguments else None
        attachments = read_attachments(arguments[ATTACHMENTS]) if ATTACHMENTS in arguments else ()
        context_id = arguments.get(CONTEXT_ID) if CONTEXT_ID in taken else None
        if context_id is not None and not isinstance(context_id, str):
            raise InvalidParam("context_id must be a string", param=f"arguments.{CONTEXT_ID}")
        kept = self._kept.get(tool, ())
        own = {name: value for name, value in arguments.items() if name not in taken or name in kept}
        return Extras(own, key, attachments, context_id)


def declared_extras(schema: JsonObject) -> list[str]:
    """The names among ours that a tool's input schema has as properties."""
    properties: Any = schema.get("properties")
    return [name for name in GATEWAY_ARGUMENTS if isinstance(properties, dict) and name in properties]


def advertised(schema: JsonObject) -> JsonObject:
    """A tool's input schema with our arguments in it, for clients that check a call before they send it.

    They are optional, and what the tool declares itself stays as it is. Arguments without ours fit it exactly if they
    fit `schema`.
    """
    own: JsonObject = schema.get("properties") or {}
    return {**schema, "properties": {**own, **{name: ADVERTISED[name] for name in ADVERTISED if name not in own}}}


def check_compatible(schema: JsonObject, takes: Callable[[JsonObject, JsonObject], bool]) -> None:
    """Hold a tool's own `attachments` and `idempotency_key` against ours.

    Args:
        schema: the tool's input schema.
        takes: whether a schema (first) accepts an object (second).

    Raises:
        InvalidParam: the tool would refuse what the gateway takes; `param` names the property.
    """
    for name in declared_extras(schema):
        samples = ATTACHMENT_SAMPLES if name == ATTACHMENTS else KEY_SAMPLES
        definitions = {word: schema[word] for word in ("$schema", "$defs", "definitions") if word in schema}
        alone: JsonObject = {**definitions, "type": "object", "properties": {name: schema["properties"][name]}}
        if not all(takes(alone, {name: sample}) for sample in samples):
            raise InvalidParam(
                f"the property {name!r} means something else on this gateway; rename it, or declare it as the gateway "
                "takes it (a string of 1 to 255 characters, or a list of {file_id, filename?, content_type?})",
                param=f"inputSchema.properties.{name}",
            )


def read_attachments(given: object) -> tuple[Attachment, ...]:
    """The files that are given along with a call, as sent; whether there are such files is not looked at.

    Raises:
        InvalidParam: it is no list of `{file_id, filename?, content_type?}`; `param` says where (gateway.md 19, D11).
    """
    if not isinstance(given, list):
        raise InvalidParam("attachments must be a list of {file_id, filename?, content_type?}", param=ATTACHMENTS)
    items = cast("list[object]", given)
    return tuple(_attachment(item, f"{ATTACHMENTS}[{place}]") for place, item in enumerate(items))


def _attachment(item: object, where: str) -> Attachment:
    try:
        attachment = msgspec.convert(item, Attachment)
    except msgspec.ValidationError as error:
        words, _, path = str(error).partition(" - at `$")
        raise InvalidParam(
            f"an attachment is {{file_id, filename?, content_type?}}: {words}", param=where + path.rstrip("`")
        ) from None
    if not 1 <= len(attachment.file_id) <= MAX_FILE_ID_LEN:
        raise InvalidParam(f"a file_id has 1 to {MAX_FILE_ID_LEN} characters", param=f"{where}.file_id")
    if attachment.filename is not None:
        check_filename(attachment.filename, f"{where}.filename")
    if attachment.content_type is not None:
        check_content_type(attachment.content_type, f"{where}.content_type")
    return attachment
