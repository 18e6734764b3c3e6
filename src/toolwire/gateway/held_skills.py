"""What of a pinned agent's registration its owner has not accepted yet; it keeps nothing and asks nobody.

An agent is its owner's process, so by default its own word on its tools counts. One that is pinned is held to what it
had registered before: a tool that has changed is shown as it was and not called, a new one is not shown. A remote
server is held by its `Upstream`.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from toolwire.core.call import Call
from toolwire.core.errors import ConsentNotFound, ConsentRequired
from toolwire.core.handler import Delegate
from toolwire.core.tool import Tool
from toolwire.gateway.agent_record import AgentRecord
from toolwire.gateway.passed_on import PassedOn
from toolwire.gateway.registration import tools_of
from toolwire.providers.remote_pins import Held
from toolwire.wire.link import Skill

MAX_DIFF_CHARS = 2000

Skills = tuple[Skill, ...]


def sort_out(record: AgentRecord, skills: Skills) -> tuple[Skills, Skills]:
    """Of what an agent registers, what may be offered, in accepted forms, and what is held."""
    if record.remote or not record.pinned or record.synced_at is None:
        return skills, ()
    known = {skill.name: skill for skill in record.skills}
    kept: list[Skill] = []
    held: list[Skill] = []
    for skill in skills:
        before = known.get(skill.name)
        if not skill.expose_as_tool or (before is not None and _reads_alike(before, skill)):
            kept.append(skill)
            continue
        held.append(skill)
        if before is not None:
            kept.append(before)
    return tuple(kept), tuple(held)


def held_of(record: AgentRecord) -> dict[str, Held]:
    """By name, the tools that are held."""
    known = {skill.name: skill for skill in record.skills if skill.expose_as_tool}
    return {
        skill.name: Held(_tool(skill), _tool(known[skill.name]) if skill.name in known else None)
        for skill in record.held
    }


def with_accepted(record: AgentRecord, name: str, digest: str) -> AgentRecord:
    """The record with a tool that was held, in exactly the form of this digest.

    Raises:
        ConsentNotFound: no such form is held any more.
    """
    found = next((skill for skill in record.held if skill.name == name and _tool(skill).digest() == digest), None)
    if found is None:
        raise ConsentNotFound(f"the tool {name!r} has changed once more; list the consents to see what is held now")
    return replace(
        record, skills=_put(record.skills, found), held=tuple(skill for skill in record.held if skill is not found)
    )


def released(record: AgentRecord) -> AgentRecord:
    """The record with all that was held, for an agent that is not pinned any more."""
    skills: Sequence[Skill] = record.skills
    for skill in record.held:
        skills = _put(skills, skill)
    return replace(record, skills=tuple(skills), held=())


class Holding(PassedOn):
    """The delegate of an agent some of whose tools are held: these are not called."""

    def __init__(self, delegate: Delegate, record: AgentRecord) -> None:
        super().__init__(delegate)
        self._held = held_of(record)

    def ready(self, call: Call, tool: Tool) -> None:
        """Refuse calls of what is held.

        Raises:
            ConsentRequired: the agent has another definition than the accepted one; `diff` in its data shows how.
        """
        held = self._held.get(call.tool)
        if held is not None:
            raise ConsentRequired(
                f"the agent has changed the definition of its tool {call.tool!r}, and the change has not been "
                "accepted; it was not called",
                diff=held.diff()[:MAX_DIFF_CHARS],
            )
        super().ready(call, tool)


def _put(skills: Sequence[Skill], skill: Skill) -> Skills:
    """The skills with this one in the place of that of its name, or at the end."""
    if all(each.name != skill.name for each in skills):
        return (*skills, skill)
    return tuple(skill if each.name == skill.name else each for each in skills)


def _reads_alike(before: Skill, now: Skill) -> bool:
    return before.expose_as_tool and _tool(before).digest() == _tool(now).digest()


def _tool(skill: Skill) -> Tool:
    return tools_of("", "", [replace(skill, expose_as_tool=True)])[0]
