"""How a conversation is brought into turns, and what its parts read like (sdk.md 12, 13; section 3, 15)."""

from typing import Any

import pytest

from tests.unit.sdk.models.requests import user
from toolwire.sdk.messages import Message, TextBlock, ToolResultBlock, ToolUseBlock
from toolwire.sdk.models.parts import arguments_json, function_of, read_arguments, result_text
from toolwire.sdk.models.turns import NO_RESULT, Turn, split_system, turns_of

CALLS = Message("assistant", [ToolUseBlock("t1", "one", {}), ToolUseBlock("t2", "two", {})])


def result(call_id: str, output: Any = "done") -> ToolResultBlock:
    return ToolResultBlock(call_id, output, success=True)


def missing(call_id: str) -> ToolResultBlock:
    return ToolResultBlock(call_id, None, success=False, error=NO_RESULT)


def test_messages_of_one_side_become_one_turn():
    messages = [user("a"), user("b"), Message("assistant", [TextBlock("c")]), Message("assistant", [])]

    assert turns_of(messages) == [
        Turn("user", [TextBlock("a"), TextBlock("b")]),
        Turn("assistant", [TextBlock("c")]),
    ]


def test_a_call_without_a_result_is_given_one_wherever_it_stands():
    begun = Message("assistant", [ToolUseBlock("t3", "three", {})])
    messages = [CALLS, user("stop"), begun, Message("system", [TextBlock("note")]), begun]

    assert [turn for turn in turns_of(messages) if turn.speaker == "user"] == [
        Turn("user", [missing("t1"), missing("t2"), TextBlock("stop")]),
        Turn("user", [missing("t3")]),
        Turn("user", [missing("t3")]),
    ]


def test_a_result_without_its_call_or_a_second_one_is_read_as_text():
    messages = [
        user("hi"),
        Message("tool", [result("t0")]),
        CALLS,
        Message("tool", [result("t2"), result("t2", "more")]),
    ]

    turns = turns_of(messages)

    assert turns[0].blocks == [TextBlock("hi"), TextBlock("Result of the call t0:\ndone")]
    assert turns[2].blocks == [missing("t1"), result("t2"), TextBlock("Result of the call t2:\nmore")]


def test_the_messages_stay_as_they_are():
    messages = [user("a"), user("b")]

    turns_of(messages)

    assert messages == [user("a"), user("b")]


def test_a_conversation_of_system_messages_alone_is_all_prompt():
    assert split_system([Turn("system", [TextBlock("a")])], None) == ("a", [])


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (result("t", "22°C in Tōkyō"), "22°C in Tōkyō"),
        (result("t", {"a": [1, "é"]}), '{"a":[1,"é"]}'),
        (result("t", None), ""),
        (ToolResultBlock("t", None, success=False), "tool failed"),
        (ToolResultBlock("t", "", success=False, error="no such city"), "no such city"),
        (ToolResultBlock("t", "Exit code 3", success=False, error="failed"), "failed\n\nExit code 3"),
        (ToolResultBlock("t", "same", success=False, error="same"), "same"),
    ],
)
def test_what_the_model_reads_of_a_result(block: ToolResultBlock, expected: str):
    assert result_text(block) == expected


def test_arguments_there_and_back():
    assert read_arguments('{"a": "é"}') == {"a": "é"}
    assert read_arguments("  ") == {}
    for written in ("[1]", "{", '{"a": NaN}', '"text"', "[" * 100_000):
        assert read_arguments(written) == written
    assert arguments_json({"a": "é"}) == '{"a":"é"}'
    assert arguments_json("{") == '{"invalid_arguments":"{"}'
    assert arguments_json(None) == '{"invalid_arguments":null}'


def test_a_tool_without_parameters_takes_an_empty_object():
    assert function_of({"name": "bare"}) == ("bare", "", {"type": "object", "properties": {}})
