"""An SDK agent attached to a real gateway: callers reach it by the tool `message`, over MCP and over REST."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.e2e.running import POLL_S, STOP_LIMIT_S, Done, Host, Process

pytestmark = pytest.mark.e2e

BOT = """
from toolwire.agent import Agent
from toolwire.sdk import HostConfig, LLMResponse, Options, TextBlock, ToolUseBlock, tool
from toolwire.sdk.testing import FakeLLMProvider


@tool
def look_up(number: int) -> str:
    "Look a number up."
    return f"number {number}"


def answer(request):
    last = request.messages[-1]
    if last.role != "tool":
        return LLMResponse("tool_use", [ToolUseBlock(f"t{len(request.messages)}", "look_up", {"number": 7})])
    said = [message.text for message in request.messages if message.role == "user" and message.origin is None]
    return LLMResponse("end_turn", [TextBlock(f"{last.content[0].output} after {said}")])


agent = Agent.from_options(
    Options(system_prompt="You help.", name="helper", allowed_tools=(look_up,)),
    provider=FakeLLMProvider(responder=answer),
    host_config=HostConfig(storage_path="helper.db"),
    description="Looks numbers up.",
)
"""


def test_calls_are_turns_of_a_conversation_that_survives_the_agents_process(host: Host):
    (host.cwd / "helper.py").write_text(BOT)
    with Process(["agent", "run", "helper:agent"], host.cwd) as process:
        host.attached("helper")
        listed = host.toolwire("tools", "list", "helper", "--json").json()["tools"]
        assert [tool["name"] for tool in listed] == ["message"]
        first = host.toolwire("call", "helper", "message", "--args", '{"message": "one"}', "--json")
        assert first.json()["content"][0]["text"] == "number 7 after ['one']"
        assert process.stop() == 0

    with Process(["agent", "run", "helper:agent"], host.cwd):
        host.attached("helper")
        context_id = first.json()["_meta"]["toolwire/context_id"]
        again = {"message": "two", "context_id": context_id}
        second = host.toolwire("call", "helper", "message", "--args", json.dumps(again))
        assert second.out == "number 7 after ['one', 'two']\n"
        assert "calling look_up" in second.err


MAILER = """
from toolwire.agent import Agent
from toolwire.sdk import LLMResponse, Options, TextBlock, ToolUseBlock, tool
from toolwire.sdk.testing import FakeLLMProvider


@tool(risk_level="high")
def send_mail(to: str) -> str:
    "Send a mail."
    return f"sent to {to}"


def answer(request):
    last = request.messages[-1]
    if last.role != "tool" and last.text == "hello":
        return LLMResponse("end_turn", [TextBlock("hello")])
    if last.role != "tool":
        return LLMResponse("tool_use", [ToolUseBlock(f"t{len(request.messages)}", "send_mail", {"to": "ada"})])
    return LLMResponse("end_turn", [TextBlock(last.content[0].output or f"no: {last.content[0].error}")])


agent = Agent.from_options(
    Options(system_prompt="You write mails.", name="mailer", allowed_tools=(send_mail,)),
    provider=FakeLLMProvider(responder=answer),
)
"""


@pytest.mark.parametrize(
    ("decision", "said"),
    [({"approve": True}, "sent to ada"), ({"deny": True, "reason": "not ada"}, "no: not ada")],
)
def test_a_call_waits_while_the_owner_decides_over_rest(host: Host, decision: dict[str, Any], said: str):
    """gateway.md 1H: agent.input_required, user.continue"""
    (host.cwd / "mailer.py").write_text(MAILER)
    with Process(["agent", "run", "mailer:agent"], host.cwd), ThreadPoolExecutor(1) as pool:
        host.attached("mailer")
        channel_id = say(host, message="hello").json()["_meta"]["toolwire/context_id"]
        calling = pool.submit(say, host, message="mail ada", context_id=channel_id)
        question = asked(host, channel_id)
        [approval] = question["payload"]["approvals"]
        assert (approval["tool"], approval["arguments"]) == ("send_mail", {"to": "ada"})
        assert not calling.done()

        answer = {"type": "user.continue", "in_reply_to": question["message_id"], "payload": decision}
        published = host.client.post(f"/api/v1/channels/{channel_id}/messages", json=answer, headers=owner(host))
        assert published.json()["data"]["recipients"] == [question["publisher_id"]]
        done = calling.result(30)
        assert done.json()["content"][0]["text"] == said
        assert 'the agent asks for approval of send_mail {"to":"ada"}' in done.err


def say(host: Host, **arguments: str) -> Done:
    return host.toolwire("call", "mailer", "message", "--args", json.dumps(arguments), "--json")


def owner(host: Host) -> dict[str, str]:
    return {"authorization": f"Bearer {host.ready.owner_key}"}


def asked(host: Host, channel_id: str) -> Any:
    """Wait until the agent has asked on the channel; the row."""
    path = f"/api/v1/channels/{channel_id}/messages?type=agent.input_required"
    for _ in range(int(STOP_LIMIT_S / POLL_S)):
        answer = host.client.get(path, headers=owner(host)).json()
        if answer["data"]["messages"]:
            return answer["data"]["messages"][0]
        time.sleep(POLL_S)
    raise AssertionError("nothing was asked")
