"""An SDK agent behind a gateway: a message is a turn, a channel a conversation, deltas come on the way."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.unit.agent.rig import gateway_of_agent, row
from toolwire.agent import Agent, Ctx
from toolwire.agent.from_options import Conversations
from toolwire.core.event import Progress
from toolwire.sdk import (
    AsyncClient,
    HostConfig,
    LLMRequest,
    LLMResponse,
    Options,
    TextBlock,
    ToolContext,
    ToolUseBlock,
    tool,
)
from toolwire.sdk.testing import FakeLLMProvider
from toolwire.testing import Harness
from toolwire.wire.link import Message


@tool
def look_up(ctx: ToolContext, number: int) -> str:
    """Look a number up."""
    ctx.progress("half way")
    return f"number {number}"


@tool(risk_level="high")
def send_mail(to: str) -> str:
    """Send a mail."""
    return f"sent to {to}"


def says(text: str) -> LLMResponse:
    return LLMResponse("end_turn", [TextBlock(text)])


def calls(name: str, **arguments: Any) -> LLMResponse:
    return LLMResponse("tool_use", [ToolUseBlock("t1", name, arguments)])


def published(provider: Any, **more: Any) -> Agent:
    options = Options(system_prompt="You help.", name="helper", allowed_tools=(look_up, send_mail), **more)
    return Agent.from_options(options, provider=provider, description="Helps.")


def echo(request: LLMRequest) -> LLMResponse:
    """Say back all that was said in this conversation."""
    said = [message.text for message in request.messages if message.role == "user" and message.origin is None]
    return says(" | ".join(said))


def asked(message_id: str, text: str, channel_id: str = "ch_1") -> Message:
    return row(message_id, "chat_message", {"message": text}, channel_id)


def test_it_registers_no_tools_so_that_callers_see_the_one_that_takes_a_message():
    """gateway.md X1"""
    registration = published(FakeLLMProvider()).registration()

    assert (registration.name, registration.description, registration.delivery_mode) == ("helper", "Helps.", "queue")
    assert registration.skills == ()


def test_a_message_becomes_a_turn_and_the_answer_comes_in_pieces():
    answered = Harness(published(FakeLLMProvider([says("It is warm.")]))).message("How is it?")

    assert answered.text == "It is warm."
    assert answered.said == ("It ", "is ", "warm.")
    assert not answered.is_error


def test_the_tool_called_message_is_answered_like_a_plain_one():
    assert Harness(published(FakeLLMProvider(responder=echo))).call("message", message="hello").text == "hello"


def test_what_the_agent_calls_is_told_as_progress():
    answered = Harness(published(FakeLLMProvider([calls("look_up", number=7), says("Seven.")]))).message("7?")

    assert answered.progress == (Progress(1, None, "calling look_up"), Progress(2, None, "half way"))


def test_an_answer_that_is_data_is_structured():
    schema = {"type": "object", "properties": {"degrees": {"type": "number"}}, "required": ["degrees"]}

    answered = Harness(published(FakeLLMProvider([says('{"degrees": 22}')]), output_schema=schema)).message("?")

    assert answered.result.structured == {"degrees": 22}


def test_an_approval_that_nobody_gives_fails_and_says_what_was_asked():
    answered = Harness(published(FakeLLMProvider([calls("send_mail", to="ada")]))).message("mail ada")

    assert answered.is_error
    assert answered.text.startswith('the agent asked for approval of send_mail {"to":"ada"}, and nobody can be asked')


async def test_an_approval_is_asked_for_on_the_channel_and_a_yes_goes_on_with_the_turn():
    """gateway.md 1H: agent.input_required, user.continue"""
    agent = published(FakeLLMProvider([calls("send_mail", to="ada"), says("Sent.")]))
    async with agent.opened(), gateway_of_agent(agent) as gateway:
        gateway.deliver(asked("msg_1", "mail ada"))
        question = await gateway.question()
        [approval] = question.payload["approvals"]
        assert question.in_reply_to == "msg_1"
        assert question.payload["text"] == 'the agent asks for approval of send_mail {"to":"ada"}'
        assert (approval["tool"], approval["arguments"]) == ("send_mail", {"to": "ada"})
        assert gateway.replies() == []

        gateway.decide(question, approve=[approval["call_id"]])
        assert (await gateway.reply("msg_1")).payload["text"] == "Sent."


async def test_an_approval_may_change_the_arguments_and_ones_that_do_not_fit_are_asked_about_again():
    def answer(request: LLMRequest) -> LLMResponse:
        last: Any = request.messages[-1]
        return says(str(last.content[0].output)) if last.role == "tool" else calls("send_mail", to="ada")

    agent = published(FakeLLMProvider(responder=answer))
    async with agent.opened(), gateway_of_agent(agent) as gateway:
        gateway.deliver(asked("msg_1", "mail ada"))
        first = await gateway.question()
        call_id = first.payload["approvals"][0]["call_id"]
        gateway.decide(first, approve=True, arguments={call_id: {"to": []}})
        second = await gateway.question(2)
        assert "does not take these arguments" in second.payload["text"]
        gateway.decide(second, approve=["another"])
        third = await gateway.question(3)
        assert "decided on none of these calls" in third.payload["text"]
        gateway.decide(third, approve="yes")
        fourth = await gateway.question(4)
        assert "was no decision" in fourth.payload["text"]
        gateway.decide(fourth, approve=True, arguments={call_id: {"to": "bob"}})
        assert (await gateway.reply("msg_1")).payload["text"] == "sent to bob"


async def test_a_decision_counts_for_the_question_that_it_answers_alone():
    provider = FakeLLMProvider([calls("send_mail", to="ada"), calls("send_mail", to="bob"), says("Only ada.")])
    agent = published(provider)
    async with agent.opened(), gateway_of_agent(agent) as gateway:
        gateway.deliver(asked("msg_1", "mail both"))
        first = await gateway.question()
        gateway.decide(first, approve=True)
        second = await gateway.question(2)
        gateway.decide(first, approve=True)
        gateway.decide(second, deny=True, approve=True, reason="not bob")
        assert (await gateway.reply("msg_1")).payload["text"] == "Only ada."

    read: list[Any] = list(provider.received_requests[-1].messages[-1].content)
    assert read[0].error == "not bob"


async def test_a_question_is_over_when_the_approval_expires(tmp_path: Path):
    agent = Agent.from_options(
        Options(system_prompt="You help.", name="helper", allowed_tools=(send_mail,)),
        provider=FakeLLMProvider([calls("send_mail", to="ada"), says("Never mind.")]),
        host_config=HostConfig(storage_path=tmp_path / "kept.db", approval_ttl_s=0.05),
    )
    async with agent.opened(), gateway_of_agent(agent) as gateway:
        gateway.deliver(asked("msg_1", "mail ada"))
        assert "nobody decided in time" in (await gateway.reply("msg_1")).payload["text"]


async def test_a_conversation_goes_on_after_a_question_whose_message_was_cancelled():
    agent = published(FakeLLMProvider([calls("send_mail", to="ada"), says("Good day.")]))
    async with agent.opened(), gateway_of_agent(agent) as gateway:
        gateway.deliver(asked("msg_1", "mail ada"))
        await gateway.question()
        gateway.cancel("msg_1")
        assert (await gateway.reply("msg_1")).type == "agent.refuse"
        gateway.deliver(asked("msg_2", "hello"))
        assert (await gateway.reply("msg_2")).payload["text"] == "Good day."


def test_options_may_decide_on_approvals():
    def decide(_name: str, arguments: dict[str, Any]) -> bool:
        return arguments["to"] == "ada"

    provider = FakeLLMProvider([calls("send_mail", to="ada"), says("Sent.")])

    answered = Harness(published(provider, can_use_tool=decide)).message("?")

    assert answered.text == "Sent."


def test_a_failure_tells_the_caller_no_internals(caplog: pytest.LogCaptureFixture):
    def fail(_request: LLMRequest) -> LLMResponse:
        raise RuntimeError("key sk-1 at db.internal")

    answered = Harness(published(FakeLLMProvider(responder=fail))).message("hello")

    assert answered.is_error
    assert answered.text.startswith("the agent has no answer (llm_error); its author finds more")
    assert "db.internal" not in answered.text
    assert "db.internal" in caplog.text


def test_files_that_come_along_are_named_to_the_model():
    file = {"file_id": "file_1", "filename": "a.pdf", "content_type": "application/pdf", "download_url": "http://x/1"}
    harness = Harness(published(FakeLLMProvider(responder=echo)), attachments=[file])

    assert harness.message("read it").text == "read it\n\nAttached files:\n- a.pdf (application/pdf): http://x/1"


async def test_a_channel_is_a_conversation_and_another_channel_another():
    agent = published(FakeLLMProvider(responder=echo))
    async with agent.opened(), gateway_of_agent(agent) as gateway:
        for number, (text, channel_id) in enumerate([("a", "ch_1"), ("b", "ch_1"), ("c", "ch_2")]):
            gateway.deliver(asked(f"msg_{number}", text, channel_id))
            await gateway.reply(f"msg_{number}")

        assert [reply.payload["text"] for reply in gateway.replies()] == ["a", "a | b", "c"]


async def test_messages_of_one_channel_are_answered_one_after_the_other():
    agent = published(FakeLLMProvider(responder=echo))
    async with agent.opened(), gateway_of_agent(agent) as gateway:
        for number in range(3):
            gateway.deliver(asked(f"msg_{number}", str(number)))

        assert (await gateway.reply("msg_2")).payload["text"] == "0 | 1 | 2"


async def test_a_message_that_is_cancelled_interrupts_the_turn_and_the_conversation_goes_on():
    """gateway.md D19"""
    began = anyio.Event()

    class Slow:
        async def complete(self, request: LLMRequest) -> LLMResponse:
            if request.messages[-1].text == "wait":
                began.set()
                await anyio.sleep_forever()
            return echo(request)

    agent = published(Slow())
    async with agent.opened(), gateway_of_agent(agent) as gateway:
        gateway.deliver(asked("msg_1", "wait"))
        with anyio.fail_after(5):
            await began.wait()
        gateway.cancel("msg_1")
        assert (await gateway.reply("msg_1")).type == "agent.refuse"
        gateway.deliver(asked("msg_2", "hello"))
        assert (await gateway.reply("msg_2")).payload["text"] == "wait | hello"


async def test_a_conversation_survives_the_process_where_there_is_a_storage(tmp_path: Path):
    texts: list[str] = []
    for number, text in enumerate(("one", "two")):
        options = Options(system_prompt="You help.", name="helper", allowed_tools=())
        kept = HostConfig(storage_path=tmp_path / "conversations.db")
        agent = Agent.from_options(options, provider=FakeLLMProvider(responder=echo), host_config=kept)
        async with agent.opened(), gateway_of_agent(agent) as gateway:
            gateway.deliver(asked(f"msg_{number}", text))
            texts.append((await gateway.reply(f"msg_{number}")).payload["text"])

    assert texts == ["one", "one | two"]


async def test_old_conversations_in_memory_make_room_for_new_ones():
    options = Options(system_prompt="You help.", allowed_tools=())
    conversations = Conversations(
        lambda: AsyncClient(options, provider=FakeLLMProvider(responder=echo)), durable=False, generation=2
    )

    async def said(text: str, channel_id: str) -> Any:
        ctx = Ctx()
        ctx.channel_id = channel_id
        return (await conversations.answer(text, ctx)).output

    async with conversations.open():
        for number in range(5):
            await said("first", f"ch_{number}")

        assert await said("second", "ch_2") == "first | second"
        assert await said("second", "ch_0") == "second"


def test_what_cannot_be_built_is_refused_at_once():
    with pytest.raises(ValueError, match="a provider is required"):
        Agent.from_options(Options(system_prompt="You help."))
    with pytest.raises(KeyError, match="Nope"):
        Agent.from_options(Options(system_prompt="…", allowed_tools=("Nope",)), provider=FakeLLMProvider())
