"""`toolwire chat`, the screen: what is printed of answers, calls and results, and what is kept out of it."""

from dataclasses import replace
from typing import Any

from tests.unit.cli.chat.script import Script, calls, options, says, talked
from toolwire.cli.chat.screen import Screen, arguments_lines, preview
from toolwire.cli.chat.talk import Talk
from toolwire.cli.chat.terminal import clean
from toolwire.sdk import AgentDefinition, Client, LLMRequest, LLMResponse, ToolContext, tool
from toolwire.sdk.testing import FakeLLMProvider


class Unstreamed:
    """A model without `stream`."""

    def complete(self, request: LLMRequest) -> LLMResponse:
        return says("All at once.")


def test_an_answer_that_does_not_come_in_pieces_is_shown_once():
    script = Script("hello")

    talked(script, provider=Unstreamed())

    assert script.shown == "All at once.\n\n"


def test_progress_of_a_tool_is_shown_while_it_runs():
    @tool
    def count(ctx: ToolContext) -> str:
        """Count."""
        ctx.progress("half way", 1, 2)
        return "counted"

    script = Script("count")
    talked(script, calls(("count", {})), says("Done."), tools=(count,))

    assert script.shown.splitlines()[:3] == ["● count", "  … count 1/2 half way", "  ✓ count: counted"]


def test_a_long_output_is_cut_and_says_how_much_is_left():
    shown = preview("line\n" * 1000)

    assert shown.splitlines()[0] == "line"
    assert len(shown.splitlines()) == 4
    assert shown.endswith(" characters more)")
    assert preview("short") == "short"
    assert preview("x" * 1000).endswith(" … (600 characters more)")


def test_all_arguments_are_shown_to_somebody_who_has_to_agree():
    assert arguments_lines({"path": "a.txt", "content": "1\n2", "n": 5, "to": ["x"]}) == [
        "path: a.txt",
        "content: 1",
        "│ 2",
        "n: 5",
        'to: ["x"]',
    ]
    assert arguments_lines([1]) == ["[1]"]


def test_a_text_cannot_move_the_cursor_or_hide_what_it_says():
    for given, shown in (
        ("\x1b[2J\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("a\rb\x08c\x00", "abc"),
        ("one\r\ntwo\ttab", "one\ntwo\ttab"),
        ("rm \u202etxt.exe", "rm txt.exe"),
        ("\x9b31mc1", "31mc1"),
    ):
        assert clean(given) == shown


def test_a_model_cannot_fake_a_question():
    script = Script("hello")

    talked(script, says("\x1b[A\x1b[2K? Bash needs your yes"))

    assert script.shown == "? Bash needs your yes\n\n"


def test_what_cannot_be_shown_does_not_stop_the_screen():
    def lost(_ref: Any) -> bytes:
        raise KeyError("gone")

    script = Script("hello", "hello")
    with Client(options(), provider=Unstreamed()) as client:
        Talk(client, script, Screen(script, lost)).run()

    assert script.shown == "  (this cannot be shown: KeyError)\n" * 2 + "\n"


def test_what_another_agent_says_for_its_part_is_left_to_the_main_one():
    def answer(request: LLMRequest) -> LLMResponse:
        if request.system == "You count.":
            return says("five")
        handed = request.messages[-1].role == "tool"
        return says("They say five.") if handed else calls(("Task", {"agent": "counter", "goal": "count"}))

    counter = AgentDefinition(description="Counts.", prompt="You count.", tools=())
    script = Script("count")
    with Client(replace(options(), agents={"counter": counter}), provider=FakeLLMProvider(responder=answer)) as client:
        Talk(client, script, Screen(script, client.get_content)).run()

    assert "They say five." in script.shown
    assert "\nfive\n" not in f"\n{script.shown}"
