"""Resources, prompts and logs as bytes; what a whole conversation shows stands in tests/interaction."""

from typing import Any

import msgspec
import pytest

from toolwire.core.errors import InvalidParam
from toolwire.core.event import Log
from toolwire.core.prompt import PromptMessage, PromptResult
from toolwire.core.result import Link, Text
from toolwire.wire.jsonrpc import Message
from toolwire.wire.mcp.library import prompt_result, read_completing, read_prompt_get
from toolwire.wire.mcp.logging import is_wanted, log_body
from toolwire.wire.mcp.requests import read_meta_of


def asked(method: str, **params: Any) -> Message:
    return Message(method, params, b"1")


def test_arguments_that_are_not_given_are_none():
    assert read_prompt_get(asked("prompts/get", name="p")).arguments == {}
    assert read_prompt_get(asked("prompts/get", name="p", arguments=None)).arguments == {}


def test_a_reference_of_another_kind_is_refused():
    params = {"ref": {"type": "ref/tool", "name": "x"}, "argument": {"name": "a", "value": ""}}
    with pytest.raises(InvalidParam, match=r"params\.ref\.type must be 'ref/prompt'") as raised:
        read_completing(asked("completion/complete", **params))
    assert raised.value.data["param"] == "ref.type"


@pytest.mark.parametrize(("version", "kind"), [("2025-03-26", "resource"), ("2025-06-18", "resource_link")])
def test_a_prompt_has_links_for_clients_that_know_them(version: str, kind: str):
    result = PromptResult((PromptMessage("user", Link("a://b", "b")), PromptMessage("assistant", Text("c"))))
    shown = msgspec.to_builtins(prompt_result(result, version))
    assert "description" not in shown
    assert [each["content"]["type"] for each in shown["messages"]] == [kind, "text"]


def test_meta_may_be_left_out_and_must_be_an_object():
    assert read_meta_of(asked("resources/read")) == ({}, None)
    assert read_meta_of(asked("resources/read", _meta={"progressToken": 7})) == ({"progressToken": 7}, b"7")
    with pytest.raises(InvalidParam, match="_meta must be an object"):
        read_meta_of(asked("resources/read", _meta=[]))


def test_a_level_that_mcp_does_not_have_counts_as_info():
    odd = Log("loud", "hey")
    assert (is_wanted(odd, "info"), is_wanted(odd, "notice")) == (True, False)
    assert msgspec.json.decode(log_body(odd)) == {
        "jsonrpc": "2.0",
        "method": "notifications/message",
        "params": {"level": "info", "data": "hey"},
    }
