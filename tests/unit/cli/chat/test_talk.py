"""`toolwire chat`, the conversation: turns, questions, commands, Ctrl-C at each prompt."""

from pathlib import Path

from tests.unit.cli.chat.script import CTRL_C, Script, calls, goals, options, says, send_mail, talked
from toolwire.sdk import Client, HostConfig, LLMResponse
from toolwire.sdk.testing import FakeLLMProvider


def test_an_answer_is_shown_and_the_conversation_goes_on():
    script = Script("hello", "and again")

    provider = talked(script, says("Good day."), says("Again."))

    assert script.shown == "Good day.\nAgain.\n\n"
    assert goals(provider) == ["hello", "and again"]


def test_calls_and_what_became_of_them_are_shown_as_they_happen():
    script = Script("look")

    talked(script, calls(("look_up", {"number": 1}), ("look_up", {"number": 9})), says("Done."))

    lines = script.shown.splitlines()
    assert lines[:2] == ["● look_up number=1", "● look_up number=9"]
    assert sorted(line[:12] for line in lines[2:4]) == ["  ✓ look_up:", "  ✗ look_up:"]
    assert "  ✓ look_up: number 1" in lines
    assert lines[4:] == ["Done.", ""]


def test_a_call_that_needs_a_yes_is_asked_about_with_all_its_arguments():
    script = Script("mail", "y")

    talked(script, calls(("send_mail", {"to": "ada", "text": "one\ntwo"})), says("Sent."))

    assert script.shown.splitlines() == [
        "? send_mail needs your yes: high risk needs a yes in the mode 'default'",
        "    to: ada",
        "    text: one",
        "    │ two",
        '● send_mail to="ada" text="one\\ntwo"',
        "  ✓ send_mail: sent to ada: one",
        "    two",
        "Sent.",
        "",
    ]


def test_a_no_and_its_reason_reach_the_model():
    script = Script("mail", "n not to her")

    provider = talked(script, calls(("send_mail", {"to": "ada"})), says("Then not."))

    assert "  ✗ send_mail: denied: not to her\nThen not.\n" in script.shown
    (block,) = provider.received_requests[-1].messages[-1].content
    assert block.error == "not to her"  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] -- a result


def test_arguments_can_be_edited_before_the_yes():
    script = Script("mail", "e", '{"to": "bob"}')

    talked(script, calls(("send_mail", {"to": "ada"})), says("Sent."))

    assert script.drafts == ['{"to":"ada"}']
    assert '● send_mail to="bob"\n  ✓ send_mail: sent to bob: hi\n' in script.shown


def test_an_edit_that_does_not_do_is_asked_for_again():
    script = Script("mail", "e", "[1]", "e", '{"whom": "bob"}', "e", '{"to": "bob"}')

    talked(script, calls(("send_mail", {"to": "ada"})), says("Sent."))

    assert "that is no JSON object" in script.shown
    assert "the edited arguments do not do" in script.shown
    assert "✓ send_mail: sent to bob: hi" in script.shown


def test_each_call_of_a_batch_is_asked_about_and_the_others_run_meanwhile():
    script = Script("mail", "n", "y")
    batch = calls(("send_mail", {"to": "ada"}), ("look_up", {"number": 2}), ("send_mail", {"to": "bob"}))

    talked(script, batch, says("Done."))

    assert "? send_mail needs your yes, the first of 2" in script.shown
    assert script.shown.index("✓ look_up") < script.shown.index("? send_mail")
    assert "✓ send_mail: sent to bob" in script.shown
    assert "sent to ada" not in script.shown


def test_a_yes_to_all_is_given_only_after_all_were_shown():
    script = Script("mail", "a", "no", "a", "y")

    talked(script, calls(("send_mail", {"to": "ada"}), ("send_mail", {"to": "bob"})), says("Done."))

    assert script.prompts[1] == "  yes to all of them? "
    before = script.shown.partition("●")[0]
    assert "    to: ada\n" in before
    assert "    to: bob\n" in before
    assert script.shown.count("✓ send_mail") == 2


def test_what_is_no_answer_is_no_yes():
    script = Script("mail", "", "maybe", "yess", "n")

    talked(script, calls(("send_mail", {"to": "ada"})), says("Then not."))

    assert len(script.prompts) == 4
    assert "✓" not in script.shown


def test_ctrl_c_at_a_question_ends_the_turn_and_not_the_program():
    script = Script("mail", CTRL_C, "hello")

    provider = talked(script, calls(("send_mail", {"to": "ada"})), says("Good day."))

    assert "! interrupted\n" in script.shown
    assert script.shown.endswith("Good day.\n\n")
    assert goals(provider) == ["mail", "hello"]


def test_the_end_of_input_at_a_question_is_no_yes():
    script = Script("mail")

    talked(script, calls(("send_mail", {"to": "ada"})))

    assert "! interrupted\n" in script.shown
    assert "●" not in script.shown


def test_ctrl_c_at_the_prompt_leaves_nothing():
    script = Script(CTRL_C, "hello")

    talked(script, says("Good day."))

    assert script.shown == "\nnothing is running; /quit leaves\nGood day.\n\n"


def test_a_turn_that_fails_says_why_and_the_next_one_works():
    script = Script("one", "two")

    talked(script, LLMResponse("error", []), says("Back."))

    assert "! the turn ended without an answer: llm_error" in script.shown
    assert "Back.\n" in script.shown


def test_the_mode_can_be_changed_on_the_way():
    script = Script("/mode never", "/mode bypassPermissions", "mail")

    talked(script, calls(("send_mail", {"to": "ada"})), says("Sent."))

    assert "there is no mode 'never'; there are default, acceptEdits, bypassPermissions\n" in script.shown
    assert script.prompts == []
    assert "✓ send_mail" in script.shown


def test_a_new_conversation_knows_nothing_of_the_old_one():
    script = Script("/task", "one", "/task", "/new", "two")

    provider = talked(script, says("1"), says("2"))

    assert script.shown.startswith("no conversation has begun\n1\ntask-")
    assert goals(provider) == ["two"]


def test_usage_and_help_are_told_and_unknown_commands_are():
    script = Script("/usage", "/help", "/nope", "//slash", "/usage", "/quit", "never said")

    provider = talked(script, says("Good day."))

    assert "nothing has been used yet\n" in script.shown
    assert "/resume" not in script.shown
    assert "  /quit            leave" in script.shown
    assert "there is no /nope; /help says what there is\n" in script.shown
    assert script.shown.endswith("0 tokens read (0 from cache), 0 written\n")
    assert goals(provider) == ["/slash"]


def test_a_conversation_on_a_file_goes_on_where_it_was_left(tmp_path: Path):
    kept = HostConfig(storage_path=tmp_path / "talk.db")
    first = Script("hello", "/task")
    talked(first, says("Good day."), host_config=kept)
    second = Script("and again")

    provider = talked(second, says("Again."), host_config=kept, task_id=first.shown.splitlines()[1])

    assert goals(provider) == ["hello", "and again"]


def test_a_question_that_was_left_open_is_asked_again_by_the_next_program(tmp_path: Path):
    kept = HostConfig(storage_path=tmp_path / "talk.db")
    asks = FakeLLMProvider([calls(("send_mail", {"to": "ada"}))])
    with Client(options(send_mail), provider=asks, host_config=kept) as client:
        task_id = client.start(goal="mail").task_id
    script = Script("y")

    talked(script, says("Sent."), host_config=kept, task_id=task_id)

    assert script.shown.startswith("? send_mail needs your yes")
    assert "✓ send_mail: sent to ada: hi\n" in script.shown
    assert "Sent.\n" in script.shown


def test_a_conversation_that_is_not_there_is_said_to_be_missing():
    script = Script("/quit")

    talked(script, task_id="task-nowhere")

    assert script.shown == "there is no task 'task-nowhere'\n"
