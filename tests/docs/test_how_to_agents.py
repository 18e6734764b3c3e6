"""docs/how-to/{approvals,remote-mcp,models,testing-agents}.md: each snippet does what its page says."""

import sys
from pathlib import Path
from typing import Any

import pytest

from docs_src.approvals import tutorial001 as mails
from docs_src.approvals import tutorial002 as by_a_person
from docs_src.approvals import tutorial003 as by_rules
from docs_src.models import tutorial001 as hosted
from docs_src.models import tutorial002 as own
from docs_src.models import tutorial003 as streamed
from docs_src.remote_mcp import tutorial001 as servers
from docs_src.remote_mcp import tutorial002 as sums
from docs_src.remote_mcp import tutorial003 as toolbox
from docs_src.remote_mcp import tutorial004 as signed
from docs_src.testing_agents import tutorial001, tutorial002, tutorial003
from tests.docs.pages import ROOT
from toolwire.sdk import (
    AnthropicProvider,
    Client,
    LLMResponse,
    McpServerSpec,
    OpenAIProvider,
    Options,
    QueryResult,
    SignIn,
    TextBlock,
    Toolbox,
    ToolUseBlock,
    query,
)
from toolwire.sdk.testing import FakeLLMProvider


def calls(*uses: tuple[str, dict[str, Any]]) -> LLMResponse:
    return LLMResponse("tool_use", [ToolUseBlock(f"t{n}", name, given) for n, (name, given) in enumerate(uses, 1)])


def says(text: str = "Done.") -> LLMResponse:
    return LLMResponse("end_turn", [TextBlock(text)])


def started(result: QueryResult) -> list[Any]:
    return [event.payload.arguments for event in result if event.type == "ToolCallStarted"]


ADA = ("send_mail", {"to": "ada@example.org", "text": "late"})
BOB = ("send_mail", {"to": "bob@example.org", "text": "late"})
EVE = ("send_mail", {"to": "eve@elsewhere.org", "text": "late"})


def test_can_use_tool_decides_on_each_call_that_waits(tmp_path: Path):
    """sdk.md 39"""
    result = query(mails.deciding, "?", provider=FakeLLMProvider([calls(ADA, EVE), says()]), workspace_dir=tmp_path)

    assert started(result) == [ADA[1]]
    assert result.answer() == "Done."


def test_a_person_approves_with_other_arguments_or_denies(capsys: pytest.CaptureFixture[str]):
    provider = FakeLLMProvider([calls(ADA, BOB), says("Ada knows.")])

    assert by_a_person.mail_with_a_person(provider) == "Ada knows."

    read: list[Any] = list(provider.received_requests[-1].messages[-1].content)
    assert [block.output for block in read] == ["sent to ada@example.org", ""]
    assert read[1].error == "Bob knows already"
    assert capsys.readouterr().out.count("send_mail") == 2
    sent: Any = provider.received_requests[-1].messages[-2].content[0]
    assert sent.arguments == ADA[1]


def test_guards_and_rules_hold_where_nothing_else_asks(tmp_path: Path):
    """sdk.md 42, 46"""
    with Client(
        by_rules.guarded, provider=FakeLLMProvider(), workspace_dir=tmp_path, host_config=by_rules.ruled
    ) as client:
        mail = client.explain(*ADA)
        root = client.explain("Bash", {"command": "sudo rm -rf /"})
        list_it = client.explain("Bash", {"command": "ls"})

    assert (mail.verdict, mail.rule, mail.reason) == ("deny", "guard:no-mail-at-night", "no mails before morning")
    assert (root.verdict, root.rule, root.reason) == ("deny", "hook:0", "never as root")
    assert (list_it.verdict, list_it.rule) == ("ask", "hook:1")


async def test_the_tools_of_a_remote_server_are_enabled_for_a_turn(monkeypatch: pytest.MonkeyPatch):
    """sdk.md 52, 53"""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    provider = FakeLLMProvider([calls(("mcp__sums__add", {"a": 1, "b": 2})), says("3")])

    assert await sums.add(provider) == "3"

    shown = [entry["function"]["name"] for entry in provider.received_requests[0].tools]
    assert shown == ["mcp__sums__add", "mcp__sums__convert_temperature"]
    read: Any = provider.received_requests[-1].messages[-1].content[0]
    assert read.success


def test_specs_show_no_credentials():
    assert isinstance(servers.SERVERS["sums"], McpServerSpec)
    assert "Bearer" not in repr(servers.SERVERS["search"])
    assert isinstance(toolbox.options.toolbox, Toolbox)
    assert "agk_" not in repr(toolbox.options.toolbox)
    assert isinstance(signed.SERVERS["issues"].auth, SignIn)
    assert "BILLING" not in repr(signed.SERVERS["billing"])


def test_hosted_models_take_their_keys_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "sk-test")

    assert isinstance(hosted.claude(), AnthropicProvider)
    assert isinstance(hosted.gpt(), OpenAIProvider)
    monkeypatch.delenv("OPENAI_API_KEY")
    assert isinstance(hosted.local(), OpenAIProvider)


def test_answers_are_shown_as_they_are_written(capsys: pytest.CaptureFixture[str]):
    streamed.main()
    assert capsys.readouterr().out == "one two three \n13 tokens read, 13 written, 0.000013 USD\n"


def test_any_object_that_completes_is_a_model(tmp_path: Path):
    options = Options(system_prompt="…", allowed_tools=())
    assert query(options, "hello", provider=own.Parrot(), workspace_dir=tmp_path).answer() == "hello"
    silent = query(options, "", provider=own.Parrot(), workspace_dir=tmp_path)
    assert silent[-1].payload.reason == "llm_error"


@pytest.mark.parametrize(
    "test",
    [
        value
        for page in (tutorial001, tutorial002, tutorial003)
        for name, value in vars(page).items()
        if name[:5] == "test_"
    ],
)
def test_the_tests_of_the_page_pass(test: Any):
    test()


def test_a_script_that_is_too_short_says_so(tmp_path: Path):
    result = query(Options(system_prompt="…"), "?", provider=FakeLLMProvider(), workspace_dir=tmp_path)

    assert result[-1].payload.reason == "llm_error"
    assert "scripted 0 response(s) but received 1 request(s)" in result[-1].payload.detail
