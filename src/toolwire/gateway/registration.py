"""Checks what an agent registers, and makes tools of its skills; it does not keep or publish them.

A registration is taken whole or not at all (gateway.md D28).
"""

from collections.abc import Sequence

from toolwire.core.errors import InvalidParam, ToolwireError
from toolwire.core.jsontypes import JsonObject
from toolwire.core.names import valid_tool_name
from toolwire.core.tool import EMPTY_SCHEMA, Tool
from toolwire.engine.catalog import CompileSchema
from toolwire.gateway.extras import check_compatible
from toolwire.wire.link import Skill

MAX_SKILLS = 1000
MESSAGE_TOOL = "message"
MESSAGE_SOURCE = "message:"
"""How the source of the fallback tool begins: a call of it is a plain `chat_message` without `tool` in its payload."""

_MESSAGE_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "message": {"type": "string", "description": "What to say to the agent"},
        "context_id": {"type": "string", "description": "The conversation to go on with, from an earlier result"},
    },
    "required": ["message"],
}


def check_skills(skills: Sequence[Skill], compile_schema: CompileSchema, known: Sequence[Skill] = ()) -> None:
    """Check all skills of a registration; those that are `known` already are not compiled again.

    Raises:
        InvalidParam: a name that no model takes, a name that stands twice, a schema that is not usable or not of type
            object, a property that the gateway takes for itself, or a time-out that is no time; `param` says where.
    """
    if len(skills) > MAX_SKILLS:
        raise InvalidParam(f"{len(skills)} skills are more than the {MAX_SKILLS} an agent may have", param="skills")
    seen: set[str] = set()
    for position, skill in enumerate(skills):
        where = f"skills[{position}]"
        if not valid_tool_name(skill.name):
            raise InvalidParam(
                f"skill name {skill.name!r} must be 1 to 64 of A-Z a-z 0-9 _ -, as models take it",
                param=f"{where}.name",
            )
        if skill.name in seen:
            raise InvalidParam(f"two skills are named {skill.name!r}; rename one of them", param=f"{where}.name")
        seen.add(skill.name)
        if skill not in known:
            _check_skill(skill, where, compile_schema)


def tools_of(agent_id: str, version: str, skills: Sequence[Skill]) -> list[Tool]:
    """The tools that these skills are, in their order; those not exposed are left out."""
    return [
        Tool(
            name=skill.name,
            description=skill.description,
            input_schema=input_schema_of(skill),
            title=skill.title,
            output_schema=skill.output_schema,
            annotations=skill.annotations,
            icons=skill.icons,
            version=version or "1",
            timeout_s=None if skill.timeout_ms is None else skill.timeout_ms / 1000,
            source=f"agent:{agent_id}",
            idempotent=skill.idempotent,
            task=skill.task or ("optional" if skill.long_running else "never"),
            strict=skill.strict,
            meta=skill.meta,
        )
        for skill in skills
        if skill.expose_as_tool
    ]


def message_tool(agent_id: str, agent_name: str) -> Tool:
    """The one tool of an agent without tools of its own: say something to it (gateway.md X1)."""
    return Tool(
        name=MESSAGE_TOOL,
        description=f"Send a message to the agent {agent_name!r} and get its reply.",
        input_schema=_MESSAGE_SCHEMA,
        source=f"{MESSAGE_SOURCE}{agent_id}",
    )


def input_schema_of(skill: Skill) -> JsonObject:
    """The skill's input schema, as written; without one it takes no arguments (gateway.md X26)."""
    return dict(EMPTY_SCHEMA) if skill.input_schema is None else skill.input_schema


def count_changes(old: Sequence[Skill], new: Sequence[Skill]) -> dict[str, int]:
    """How many skills are new, differ from before, and are gone."""
    before, after = {skill.name: skill for skill in old}, {skill.name: skill for skill in new}
    return {
        "created": sum(1 for name in after if name not in before),
        "updated": sum(1 for name, skill in after.items() if name in before and before[name] != skill),
        "deactivated": sum(1 for name in before if name not in after),
    }


def _check_skill(skill: Skill, where: str, compile_schema: CompileSchema) -> None:
    schema = input_schema_of(skill)
    if schema.get("type") != "object":
        raise InvalidParam(
            f"inputSchema of {skill.name!r} must have type object, not {schema.get('type')!r}",
            param=f"{where}.inputSchema.type",
        )
    if skill.timeout_ms is not None and skill.timeout_ms <= 0:
        raise InvalidParam(
            f"timeout_ms of {skill.name!r} must be above 0, not {skill.timeout_ms}", param=f"{where}.timeout_ms"
        )
    _check_schema(schema, skill.name, f"{where}.inputSchema", compile_schema)
    if skill.output_schema is not None:
        _check_schema(skill.output_schema, skill.name, f"{where}.outputSchema", compile_schema)

    def takes(alone: JsonObject, value: JsonObject) -> bool:
        try:
            return not compile_schema(alone).check(value)
        except InvalidParam:
            return False

    try:
        check_compatible(schema, takes)
    except InvalidParam as error:
        raise InvalidParam(f"skill {skill.name!r}: {error.message}", param=f"{where}.{error.data['param']}") from None


def _check_schema(schema: JsonObject, name: str, where: str, compile_schema: CompileSchema) -> None:
    try:
        compile_schema(schema)
    except ToolwireError as error:
        kind = where.rpartition(".")[2]
        raise InvalidParam(f"{kind} of {name!r} is not usable: {error.message}", param=where) from None
