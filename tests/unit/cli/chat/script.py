"""A terminal whose person has a script, and an agent to talk to; it asserts nothing."""

from collections.abc import Sequence
from typing import Any

from toolwire.cli.chat.screen import Screen
from toolwire.cli.chat.talk import PROMPT, Talk
from toolwire.sdk import Client, HostConfig, LLMResponse, Options, TextBlock, ToolUseBlock, tool
from toolwire.sdk.messages import Provider
from toolwire.sdk.testing import FakeLLMProvider

CTRL_C = KeyboardInterrupt()


class Script:
    """What the person says to each prompt, then the end of input; `shown` is the terminal, prompts left out."""

    def __init__(self, *lines: str | KeyboardInterrupt) -> None:
        self._lines = list(lines)
        self.prompts: list[str] = []
        self.drafts: list[str] = []
        self.shown = ""

    def read(self, prompt: str, draft: str = "") -> str:
        if prompt != PROMPT:
            self.prompts.append(prompt)
        self.drafts += [draft] if draft else []
        if not self._lines:
            raise EOFError
        line = self._lines.pop(0)
        if isinstance(line, KeyboardInterrupt):
            raise line
        return line

    def write(self, text: str, style: str = "") -> None:
        self.shown += text


@tool(risk_level="high")
def send_mail(to: str, text: str = "hi") -> str:
    """Send a mail."""
    return f"sent to {to}: {text}"


@tool
def look_up(number: int) -> str:
    """Look a number up."""
    if number > 5:
        raise ValueError(number)
    return f"number {number}"


def says(text: str) -> LLMResponse:
    return LLMResponse("end_turn", [TextBlock(text)])


def calls(*uses: tuple[str, dict[str, Any]]) -> LLMResponse:
    return LLMResponse("tool_use", [ToolUseBlock(f"t{n}", name, given) for n, (name, given) in enumerate(uses, 1)])


def options(*tools: Any) -> Options:
    return Options(system_prompt="You help.", name="helper", allowed_tools=tools)


def talked(
    script: Script,
    *responses: LLMResponse,
    provider: Provider | None = None,
    host_config: HostConfig | None = None,
    task_id: str | None = None,
    tools: Sequence[Any] = (send_mail, look_up),
) -> FakeLLMProvider:
    """Let the person of `script` talk to a model that gives these responses; the model, for what it was asked."""
    scripted = FakeLLMProvider(responses)
    with Client(options(*tools), provider=provider or scripted, host_config=host_config) as client:
        Talk(client, script, Screen(script, client.get_content), task_id).run()
    return scripted


def goals(provider: FakeLLMProvider) -> list[str]:
    """What the person said, as the model was told last."""
    said = provider.received_requests[-1].messages
    return [message.text for message in said if message.role == "user" and message.origin is None]
