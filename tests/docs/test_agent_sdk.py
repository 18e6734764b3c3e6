"""docs/tutorial/agent-sdk.md: what the tutorial says of its agents is so."""

import runpy
from pathlib import Path

import pytest

from docs_src.agent_sdk import tutorial001, tutorial002, tutorial003, tutorial004
from tests.docs.pages import ROOT, read, rows, section
from toolwire.sdk import AsyncClient, Client, Options, query, tool
from toolwire.sdk.testing import FakeLLMProvider
from toolwire.testing import Harness


def test_the_first_agent_answers_and_shows_its_events(capsys: pytest.CaptureFixture[str]):
    runpy.run_path(str(ROOT / "docs_src/agent_sdk/tutorial001.py"), run_name="__main__")

    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "Mild, 22 degrees."
    assert "11 ToolCallStarted" in printed
    assert printed[-1] == "21 TaskCompleted"


def test_arguments_that_do_not_fit_and_errors_are_results_that_the_model_reads():
    """sdk.md 17, 24"""
    assert tutorial001.fetch_weather.invoke({"city": 5}).success is False
    assert "there is Bergen" in tutorial001.fetch_weather.invoke({"city": "Atlantis"}).summary


def test_none_selects_the_ten_built_in_tools_and_the_empty_tuple_none(tmp_path: Path):
    for allowed, count in ((None, 10), ((), 0)):
        provider = FakeLLMProvider(responder=tutorial003.answer)
        options = Options(system_prompt="…", allowed_tools=allowed)
        query(options, goal="?", provider=provider, workspace_dir=tmp_path)
        assert len(provider.received_requests[0].tools) == count


@pytest.mark.parametrize(
    ("page", "heading"), [("docs/tutorial/agent-sdk.md", "Risk"), ("docs/how-to/approvals.md", "")]
)
async def test_the_table_of_risks_is_what_is_decided(page: str, heading: str):
    """sdk.md 29, 30"""
    text = read(page)
    table = rows(section(text, heading) if heading else text)

    assert len(table) == 3
    for risk, *cells in table:
        graded = tool(lambda: "done", name="custom", risk_level=risk.strip("`"))  # pyright: ignore[reportArgumentType] -- from the page
        for mode, cell in zip(("default", "acceptEdits", "bypassPermissions"), cells, strict=True):
            options = Options(system_prompt="…", allowed_tools=("Edit", graded), permission_mode=mode)
            async with AsyncClient(options, provider=FakeLLMProvider()) as client:
                custom = await client.explain("custom", {})
                edit = await client.explain("Edit", {"file_path": "a", "old_string": "b", "new_string": "c"})
            assert custom.verdict == ("allow" if cell == "runs" else "ask")
            assert edit.verdict == ("ask" if mode == "default" else "allow")


def test_a_conversation_survives_the_client(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    provider, storage = FakeLLMProvider(responder=tutorial003.answer), tmp_path / "tasks.db"

    task_id = tutorial002.ask_twice(provider, storage)
    tutorial002.ask_again(provider, storage, task_id)

    printed = capsys.readouterr().out
    assert printed.startswith("24°C in Lisbon\n")
    assert "UserMessage(text='What is the weather in Tokyo?')" in printed
    assert "UserMessage(text='Which of the two is warmer?')" in printed


def test_the_agent_of_the_terminal_answers_offline():
    with Client(tutorial003.weather, provider=tutorial003.offline) as client:
        task_id = client.start(goal="Tokyo?").task_id
        assert client.task_answer(task_id) == "22°C in Tokyo"


def test_the_published_agent_takes_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    answered = Harness(tutorial004.agent).message("Tokyo?")

    assert answered.text == "22°C in Tokyo"
    assert tutorial004.agent.registration().name == "weather-bot"
    assert (tmp_path / "conversations.db").exists()
