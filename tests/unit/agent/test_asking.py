"""How an agent's bodies ask the client of their caller, as its gateway sees it (gateway.md §6; mcp.md 1.2)."""

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from tests.unit.agent.rig import Gateway, chat, gateway_of_agent
from toolwire.agent import Agent, Ctx, Limits
from toolwire.wire.link import Answered, Ask, Continue, Message, Noted

CAN: dict[str, Any] = {"elicitation": {"form": {}}}


@dataclass
class Person:
    name: str


def curious(limits: Limits | None = None) -> Agent:
    agent = Agent("curious", limits=limits)

    @agent.tool
    async def greet(ctx: Ctx) -> str:
        """Ask for a name."""
        said = await ctx.elicit("Who?", Person)
        name = said.content.name if said.content else said.action
        return f"{name}, until {ctx.deadline:g}"

    @agent.tool
    async def ping() -> str:
        """Answer at once."""
        return "pong"

    return agent


def of_client(message: Message, can: Any = CAN) -> Message:
    """A message whose caller's client can be asked."""
    return msgspec.structs.replace(message, payload={**message.payload, "metadata": {"client_capabilities": can}})


async def text(gateway: Gateway, message_id: str) -> str:
    return (await gateway.reply(message_id)).payload["text"]


async def test_a_question_goes_out_in_mcps_words_and_the_answer_comes_back():
    async with gateway_of_agent(curious()) as gateway:
        gateway.deliver(of_client(chat("m_1", "greet")))
        asked = await gateway.question()
        assert asked.payload["text"] == "Who?"
        [question] = asked.payload["questions"]
        assert (question["method"], question["params"]["message"]) == ("elicitation/create", "Who?")
        answers = {question["key"]: {"action": "accept", "content": {"name": "Ann"}}}
        gateway.decide(asked, answers=answers, deadline=12, client_capabilities=CAN)
        assert await text(gateway, "m_1") == "Ann, until 12"


@pytest.mark.parametrize(
    ("decided", "words"),
    [
        ({"answers": {}}, "there is none"),
        ({"answers": {"question_1": {"action": "accept", "content": {"name": 1}}}}, "not what was asked for"),
        ({"error": {"code": "consent_required", "message": "the user said no"}}, "the user said no"),
        ({}, "there is none"),
    ],
)
async def test_what_is_no_answer_fails_the_call_with_words(decided: Any, words: str):
    async with gateway_of_agent(curious()) as gateway:
        gateway.deliver(of_client(chat("m_1", "greet")))
        gateway.decide(await gateway.question(), **decided)
        reply = await gateway.reply("m_1")
        assert reply.payload["is_error"] is True
        assert words in reply.payload["text"]


@pytest.mark.parametrize("can", [None, {}, {"sampling": {}}])
async def test_a_client_that_cannot_be_asked_is_told_what_it_lacks(can: Any):
    async with gateway_of_agent(curious()) as gateway:
        gateway.deliver(of_client(chat("m_1", "greet"), can))
        reply = await gateway.reply("m_1")
        assert (reply.payload["is_error"], reply.payload["code"]) == (True, "missing_client_capability")


async def test_who_waits_for_an_answer_keeps_nobody_from_working():
    async with gateway_of_agent(curious(Limits(calls=1))) as gateway:
        gateway.deliver(of_client(chat("m_1", "greet")))
        asked = await gateway.question()
        gateway.deliver(chat("m_2", "ping"))
        assert await text(gateway, "m_2") == "pong"
        gateway.decide(asked, answers={"question_1": {"action": "decline"}}, deadline=1)
        assert await text(gateway, "m_1") == "decline, until 1"


async def test_a_prompt_asks_too():
    agent = Agent("curious")

    @agent.prompt
    async def about(ctx: Ctx) -> str:
        """Ask what it is about."""
        said = await ctx.elicit("Whom?", Person)
        return said.content.name if said.content else said.action

    async with gateway_of_agent(agent) as gateway:
        gateway.give(Ask(7, "prompts/get", {"name": "about"}, 12, CAN))
        await gateway.until(lambda: any(isinstance(frame, Noted) for frame in gateway.seen))
        [noted] = [frame for frame in gateway.seen if isinstance(frame, Noted)]
        [question] = noted.payload["questions"]
        answers = {question["key"]: {"action": "accept", "content": {"name": "Ann"}}}
        gateway.give(Continue(7, noted.payload["question"], {"answers": answers}))
        await gateway.until(lambda: any(isinstance(frame, Answered) for frame in gateway.seen))
        [answered] = [frame for frame in gateway.seen if isinstance(frame, Answered)]
        assert answered.result is not None
        assert answered.result["messages"][0]["content"]["text"] == "Ann"
