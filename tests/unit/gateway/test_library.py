"""What an agent that is asked for its library may answer, and what is refused (gateway.md 51)."""

from typing import Any

import pytest

from tests.unit.engine.fakes import call_of
from tests.unit.gateway.world import open_world
from toolwire.core.call import Call
from toolwire.core.errors import InvalidAgentResponse, InvalidParam, ResourceNotFound
from toolwire.core.event import Event
from toolwire.core.handler import Emit
from toolwire.core.jsontypes import JsonObject
from toolwire.core.prompt import Reference
from toolwire.gateway.asks import Asks
from toolwire.gateway.library import AgentLibrary
from toolwire.wire.link import AskMethod, Registration

HELD = {"role": "user", "content": {"type": "text", "text": "held"}}
OFFERS = Registration(
    "Demo",
    resources=({"uriTemplate": "n://{day}", "name": "day"}, {"uri": "n://a/held", "name": "held", "text": "held"}),
    prompts=(
        {"name": "ask", "arguments": [{"name": "of", "required": True}]},
        {"name": "greet", "messages": [HELD]},
    ),
    completions=True,
)


class Says(Asks):
    """Agents that answer everything alike, and what they were asked."""

    def __init__(self, answer: JsonObject) -> None:
        super().__init__(lambda _: 0.0)
        self.asked: list[tuple[str, JsonObject]] = []
        self._answer = answer

    async def ask(self, agent_id: str, method: AskMethod, params: JsonObject, call: Call, emit: Emit) -> JsonObject:
        self.asked.append((method, params))
        return self._answer


def no_emit(event: Event) -> None:
    raise AssertionError(event)


async def offering(answer: JsonObject) -> tuple[AgentLibrary, Says]:
    world = await open_world()
    agent = await world.agents.create("owner", "demo")
    await world.agents.sync(agent.agent_id, OFFERS)
    asks = Says(answer)
    return AgentLibrary(agent.agent_id, world.agents, asks), asks


async def test_what_the_registration_holds_is_given_without_the_agent():
    library, asks = await offering({})
    (contents,) = await library.read("n://a/held", call_of(), no_emit)
    assert contents.text == "held"
    got = await library.get("greet", call_of(arguments={}), no_emit)
    assert [message.role for message in got.messages] == ["user"]
    with pytest.raises(InvalidParam, match="prompt 'greet' has no arguments; leave them out"):
        await library.get("greet", call_of(arguments={"of": "x"}), no_emit)
    assert asks.asked == []


async def test_what_the_agent_does_not_offer_is_refused_without_it():
    library, asks = await offering({})
    with pytest.raises(ResourceNotFound, match="there is no resource 'other://a' here"):
        await library.read("other://a", call_of(), no_emit)
    with pytest.raises(InvalidParam, match="no prompt is named 'nothing' here"):
        await library.get("nothing", call_of(), no_emit)
    for reference in (Reference("prompt", "nothing"), Reference("resource", "n://a/held")):
        with pytest.raises(InvalidParam, match="with arguments here"):
            await library.complete(reference, "of", "m", call_of(), no_emit)
    assert asks.asked == []


async def test_the_agent_is_asked_in_mcps_words():
    library, asks = await offering({"completion": {"values": ["monday"], "total": 1}})
    call = call_of(arguments={"year": "2026"})
    completion = await library.complete(Reference("resource", "n://{day}"), "day", "mon", call, no_emit)
    assert completion.values == ("monday",)
    await library.complete(Reference("prompt", "ask"), "of", "m", call, no_emit)
    assert [(method, params["ref"]) for method, params in asks.asked] == [
        ("completion/complete", {"type": "ref/resource", "uri": "n://{day}"}),
        ("completion/complete", {"type": "ref/prompt", "name": "ask"}),
    ]
    assert asks.asked[0][1]["context"] == {"arguments": {"year": "2026"}}


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        ("none", "resource is malformed"),
        ([{"text": "a"}], "resource is malformed"),
        ([{"uri": "n://1"}], "one of text and blob"),
        ([{"uri": "n://1", "text": "a", "blob": "YQ=="}], "one of text and blob"),
        ([{"uri": "n://1", "blob": "?"}], "blob is not base64"),
    ],
)
async def test_contents_that_no_client_could_read_are_refused(contents: Any, words: str):
    library, _ = await offering({"contents": contents})
    with pytest.raises(InvalidAgentResponse, match=words):
        await library.read("n://1", call_of(), no_emit)


async def test_a_resource_without_contents_is_not_there():
    library, _ = await offering({"contents": []})
    with pytest.raises(ResourceNotFound):
        await library.read("n://1", call_of(), no_emit)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"type": "song"}, "prompt is malformed"),
        ({"type": "image", "data": "?", "mimeType": "image/png"}, "data is not base64"),
        ({"type": "resource", "resource": {"uri": "n://1", "text": "a", "blob": "YQ=="}}, "both text and blob"),
    ],
)
async def test_messages_that_no_client_could_read_are_refused(content: JsonObject, words: str):
    library, _ = await offering({"messages": [{"role": "user", "content": content}]})
    with pytest.raises(InvalidAgentResponse, match=words):
        await library.get("ask", call_of(), no_emit)


@pytest.mark.parametrize("answer", [{}, {"completion": ["a"]}, {"completion": {"values": [1]}}])
async def test_completions_that_are_none_are_refused(answer: JsonObject):
    library, _ = await offering(answer)
    with pytest.raises(InvalidAgentResponse, match="completion is malformed"):
        await library.complete(Reference("prompt", "ask"), "of", "m", call_of(), no_emit)
