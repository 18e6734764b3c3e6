"""The parameters of requests as values, and what is refused of them (gateway.md X10; mcp.md S11)."""

from typing import Any

import pytest

from toolwire.core.errors import InvalidParam
from toolwire.wire.jsonrpc import Message, decode
from toolwire.wire.mcp.requests import (
    ToolCall,
    meta_milliseconds,
    meta_string,
    read_cancelled,
    read_cursor,
    read_tool_call,
)


def call(**params: Any) -> Message:
    return Message("tools/call", params, b"1")


def refused_param(message: Message) -> str:
    with pytest.raises(InvalidParam) as caught:
        read_tool_call(message)
    return caught.value.data["param"]


def test_a_call_is_a_name_and_arguments():
    assert read_tool_call(call(name="echo", arguments={"a": 1})) == ToolCall("echo", {"a": 1}, {})


@pytest.mark.parametrize("params", [{}, {"arguments": None}, {"arguments": {}}, {"_meta": None}])
def test_absent_and_null_arguments_are_none(params: dict[str, Any]):
    assert read_tool_call(call(name="echo", **params)) == ToolCall("echo", {}, {})


@pytest.mark.parametrize("name", [None, 7, "", ["echo"]])
def test_the_name_is_a_string(name: Any):
    message = call() if name is None else call(name=name)
    if name == "":
        assert read_tool_call(message).name == ""
    else:
        assert refused_param(message) == "name"


@pytest.mark.parametrize("arguments", [[], "x", 7, False])
def test_arguments_are_an_object(arguments: Any):
    assert refused_param(call(name="echo", arguments=arguments)) == "arguments"


@pytest.mark.parametrize("meta", [[], "x", 7])
def test_meta_is_an_object(meta: Any):
    assert refused_param(call(name="echo", _meta=meta)) == "_meta"


@pytest.mark.parametrize("raw", [b'"a"', b"7", b"0", b'""', b"99999999999999999999999999"])
def test_a_progress_token_keeps_its_type_and_its_value(raw: bytes):
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":%b}}}' % raw
    message = decode(body)
    assert isinstance(message, Message)
    assert read_tool_call(message).progress_token == raw


@pytest.mark.parametrize("token", [1.5, True, [], {}])
def test_a_progress_token_of_another_kind_is_refused(token: Any):
    assert refused_param(call(name="echo", _meta={"progressToken": token})) == "_meta.progressToken"


def test_no_progress_token_is_no_progress():
    assert read_tool_call(call(name="echo", _meta={"other": 1})) == ToolCall("echo", {}, {"other": 1})
    assert read_tool_call(call(name="echo", _meta={"progressToken": None})).progress_token is None


def test_lists_are_whole_so_no_cursor_is_ours():
    read_cursor(Message("tools/list", {}, b"1"))
    read_cursor(Message("tools/list", {"cursor": None}, b"1"))
    with pytest.raises(InvalidParam):
        read_cursor(Message("tools/list", {"cursor": "page-2"}, b"1"))


@pytest.mark.parametrize(("id_", "found"), [(7, 7), ("a", "a"), (None, None), (True, None), ([], None), (1.5, None)])
def test_a_cancellation_names_an_id_or_nothing(id_: Any, found: int | str | None):
    assert read_cancelled(Message("notifications/cancelled", {"requestId": id_})) == found


def test_a_cancellation_without_an_id_names_nothing():
    assert read_cancelled(Message("notifications/cancelled", {})) is None


def test_a_string_of_meta_is_a_string_or_absent():
    assert meta_string({"k": "v"}, "k") == "v"
    assert meta_string({}, "k") is None
    assert meta_string({"k": None}, "k") is None
    with pytest.raises(InvalidParam):
        meta_string({"k": 7}, "k")


def test_a_time_of_meta_is_a_positive_number_of_milliseconds_or_absent():
    assert meta_milliseconds({"k": 1500}, "k") == 1500
    assert meta_milliseconds({}, "k") is None
    assert meta_milliseconds({"k": None}, "k") is None
    for wrong in (0, -1, 1.5, "1500", True):
        with pytest.raises(InvalidParam):
            meta_milliseconds({"k": wrong}, "k")
