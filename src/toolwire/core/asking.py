"""What a handler may ask of the client behind a call, and the port that asks it; it does not send anything.

A handler finds the asker at the `emit` it was given: `asker_of(emit)`. So a call stays a value that can be stored, and
a handler that asks nothing pays nothing.
Spec: MCP 2025-11-25 and 2026-07-28, client/elicitation, client/sampling, client/roots; contract mcp.md 1.2.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, cast

from msgspec import Struct

from toolwire.core.errors import MissingCapability, ToolwireError
from toolwire.core.jsontypes import JsonObject, as_object

SIGN_IN = "toolwire/sign_in"
"""In the `_meta` of a question for a page: a person is to sign in there, which the call waits for (gateway.md 54)."""

AskMethod = Literal["elicitation/create", "sampling/createMessage", "roots/list"]
"""What a client can be asked."""


class Question(Struct, frozen=True):
    """One thing to ask: `key` names it within its call, once for ever; `params` are MCP's for the method."""

    key: str
    method: AskMethod
    params: JsonObject

    @property
    def needs(self) -> tuple[str, ...]:
        """The capabilities that a client must have declared, such as "elicitation" or "sampling.tools"."""
        if self.method == "roots/list":
            return ("roots",)
        if self.method == "elicitation/create":
            return ("elicitation.url",) if self.params.get("mode") == "url" else ("elicitation",)
        with_tools = "tools" in self.params or "toolChoice" in self.params
        return ("sampling", "sampling.tools") if with_tools else ("sampling",)


Check: TypeAlias = Callable[[Question, JsonObject], str | None]
"""Says what is wrong with an answer; `None` if nothing is."""


class Asker(Protocol):
    """Asks the client behind one call.

    Attributes:
        can: what the client says it can do now, in MCP's words.
        deadline: Unix seconds until which the call may go on; it moves while a person is thinking.
    """

    can: JsonObject
    deadline: float

    async def ask(self, questions: Sequence[Question], check: Check) -> Mapping[str, JsonObject]:
        """Ask several things at once and wait for all answers.

        Returns:
            By key, the results as the client sent them; `check` has passed each.

        Raises:
            ValueError: a key was used before in this call.
            Declined: the client answered with an error.
            UnfitAnswer: an answer is not what was asked for, and cannot be asked for again.
            NobodyToAsk: the client cannot be reached.
            PageRequired: it cannot, but a person can be sent to a page by the error itself.
        """
        ...

    def complete(self, key: str) -> None:
        """Tell the client that what a question for a URL has sent a person to is done, where that can be told."""
        ...


class NobodyToAsk(MissingCapability):
    """No client that could be asked stands behind this call."""


class Declined(ToolwireError):
    """The client answered a question with an error, such as that its user does not want it."""

    code = "consent_required"


class UnfitAnswer(ToolwireError):
    """The client answered something else than was asked for."""

    code = "invalid_agent_response"


def asker_of(emit: Callable[..., object]) -> Asker | None:
    """The asker of a call, given the `emit` of its handler; `None` where nobody can be asked.

    It is the attribute `asker` of whatever `emit` is a method of, or of `emit` itself.
    """
    return cast("Asker | None", getattr(getattr(emit, "__self__", emit), "asker", None))


def is_declared(capabilities: JsonObject, name: str) -> bool:
    """Whether a client has declared a capability, such as "sampling" or "elicitation.url".

    A client that declares elicitation and neither of its modes shows forms, as it was before there were modes.
    """
    holder: Any = capabilities
    for part in name.split("."):
        found = as_object(holder)
        holder = None if found is None else found.get(part)
    if name == "elicitation":
        modes = as_object(holder)
        return modes is not None and ("form" in modes or "url" not in modes)
    return holder is not None and holder is not False


def required(names: Sequence[str]) -> JsonObject:
    """Capabilities as a client would have to declare them."""
    found: JsonObject = {}
    for name in names:
        holder = found
        for part in name.split("."):
            holder = holder.setdefault(part, {})
    return found


def require(capabilities: JsonObject, names: Sequence[str]) -> None:
    """Refuse unless all these capabilities are declared.

    Raises:
        MissingCapability: with `requiredCapabilities`, as the client would have to declare them (mcp.md 1.2, −32021).
    """
    missing = [name for name in names if not is_declared(capabilities, name)]
    if missing:
        words = ", ".join(repr(name) for name in missing)
        raise MissingCapability(f"the client has not declared {words}", requiredCapabilities=required(missing))
