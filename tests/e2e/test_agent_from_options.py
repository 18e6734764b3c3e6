"""An SDK agent attached to a real gateway: callers reach it by the tool `message`, over MCP and over REST."""

import json

import pytest

from tests.e2e.running import Host, Process

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
