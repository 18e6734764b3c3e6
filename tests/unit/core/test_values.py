"""The values of a call and what is asked of them; gateway.md 46 (keys), 54, D28 (names), §6; ARCHITECTURE §2."""

import inspect
import re
from typing import Any

import msgspec
import pytest

from toolwire.core import errors
from toolwire.core.call import Attachment, Call, Caller
from toolwire.core.error_rows import ERRORS, GATEWAY_OVERRIDES
from toolwire.core.errors import (
    MAX_MESSAGE_CHARS,
    InvalidParam,
    StoreConflict,
    StoreUnavailable,
    ToolwireError,
    shortened,
)
from toolwire.core.event import Chunk, Event, Finished, Log, Progress, Stamped
from toolwire.core.handler import Emit, Handler, stack
from toolwire.core.ids import KEY_PREFIXES, SHOWN_PREFIX_LEN, key_hash, new_id, new_key
from toolwire.core.jsontypes import MAX_DEPTH, as_object, is_too_deep, may_be_deep
from toolwire.core.names import valid_tool_name
from toolwire.core.result import (
    TOOL_FAILED,
    Audio,
    Embedded,
    Image,
    Link,
    ResourceContents,
    Result,
    Text,
    failed,
    text_result,
)
from toolwire.core.tool import EMPTY_SCHEMA, Tool

ALICE = Caller("alice", "alice", "gateway")
CALL = Call("call_1", ALICE, "work", {"n": 1}, 1000.0)


def with_fields(value: Any, **fields: Any) -> Any:
    return msgspec.structs.replace(value, **fields)


@pytest.mark.parametrize(
    ("call", "durable", "outlives_request"),
    [
        (CALL, False, False),
        (with_fields(CALL, caller=with_fields(ALICE, session_id="s")), False, False),
        (with_fields(CALL, caller=with_fields(ALICE, session_id="s"), context_id="ch_1"), True, False),
        (with_fields(CALL, idempotency_key="k"), True, True),
        (with_fields(CALL, watched=True), True, True),
    ],
)
def test_a_session_with_a_conversation_makes_a_call_durable_and_a_key_or_a_watcher_lets_it_outlive_its_request(
    call: Call, durable: bool, outlives_request: bool
):
    assert (call.durable, call.outlives_request) == (durable, outlives_request)


@pytest.mark.parametrize(
    "value",
    [
        with_fields(CALL, idempotency_key="k", attachments=(Attachment("file_1", filename="a.txt"),), depth=3),
        text_result("hello"),
        failed("no", data={"n": 1}),
        Result(
            content=(Text("a", annotations={"priority": 1}), Image("QQ==", "image/png"), Audio("QQ==", "audio/ogg"))
        ),
        Result(content=(Link("x:y", "y", size=3), Embedded(ResourceContents("x:y", text="t"))), structured=None),
        Result(structured={"n": 10**30}, meta={"k": 1}),
    ],
)
def test_a_value_survives_being_encoded(value: Call | Result):
    assert msgspec.json.decode(msgspec.json.encode(value), type=type(value)) == value


@pytest.mark.parametrize("event", [Progress(1, 2, "half"), Log("info", "hi", "app"), Chunk(Text("part"))])
def test_an_event_is_known_by_its_tag(event: Event):
    stamped = Stamped("call_1", 1, 1000.0, event)
    assert msgspec.json.decode(msgspec.json.encode(stamped), type=Stamped) == stamped
    end = Stamped("call_1", 2, 1000.0, Finished(text_result("done")))
    assert msgspec.json.decode(msgspec.json.encode(end), type=Stamped) == end


def test_a_result_without_structured_content_differs_from_one_whose_content_is_null():
    assert b"structured" not in msgspec.json.encode(text_result("x"))
    assert b'"structured":null' in msgspec.json.encode(Result(structured=None))


def test_an_unknown_member_of_an_attachment_is_refused():
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"file_id":"file_1","url":"http://x"}', type=Attachment)


def test_a_failed_result_says_why_to_the_model_and_to_a_program():
    result = failed("the disk is full", data={"free": 0})
    assert result.is_error
    assert result.content == (Text("the disk is full"),)
    assert result.error is not None
    assert (result.error.code, result.error.message, result.error.data) == (
        TOOL_FAILED,
        "the disk is full",
        {"free": 0},
    )
    assert not text_result("fine").is_error


def all_errors() -> list[type[ToolwireError]]:
    found = [value for _, value in inspect.getmembers(errors, inspect.isclass) if issubclass(value, ToolwireError)]
    assert len(found) > 40
    return found


@pytest.mark.parametrize("error", all_errors())
def test_every_error_is_drawn_in_the_tree_and_has_a_row_in_the_table(error: type[ToolwireError]):
    assert errors.__doc__ is not None
    assert re.search(rf"\b{error.__name__}\b", errors.__doc__)
    assert error("why", param="x").row is ERRORS[error.code]


def test_every_code_of_the_table_has_an_error():
    assert set(ERRORS) == {error.code for error in all_errors()}
    assert set(GATEWAY_OVERRIDES) <= set(ERRORS)


def test_only_codes_that_may_succeed_unchanged_are_retryable():
    assert {code for code, row in ERRORS.items() if row.retryable} == {
        "rate_limited",
        "agent_offline",
        "agent_busy",
        "conflict",
        "agent_service_unavailable",
        "internal_error",
        "wait_timeout",
    }


def test_calls_of_tools_end_with_no_json_rpc_codes_but_the_gateways_closed_set():
    """gateway.md D16; what MCP has for resources is on no way of a tool's call, and pages are on no gateway's."""
    others = {"resource_not_found", "url_elicitation_required"}
    rows = [*(row for code, row in ERRORS.items() if code not in others), *GATEWAY_OVERRIDES.values()]
    closed = {-32700, -32600, -32601, -32602, -32603, -32003, -32020, -32021, -32022}
    assert {row.jsonrpc for row in rows} == closed
    assert ERRORS["service_timeout"].jsonrpc == -32003


def test_an_error_carries_its_words_and_its_data():
    error = InvalidParam("n must be a number", param="n")
    assert (str(error), error.message, error.data) == ("n must be a number", "n must be a number", {"param": "n"})
    assert StoreUnavailable("full").code == "agent_service_unavailable"


def test_callers_are_told_what_is_wrong_and_nothing_of_this_machine():
    """gateway.md D16: -32603 never carries internals."""
    assert InvalidParam("n must be a number").told == "n must be a number"
    assert "/home" not in StoreUnavailable("the disk of /home/a/x.db is full").told
    assert StoreUnavailable("the disk of /home/a/x.db is full", told="the disk is full").told == "the disk is full"
    assert "channel/ch_1" not in StoreConflict("stream 'channel/ch_1' is at 2, not before 2").told


def test_a_message_repeats_only_so_much_of_what_was_sent():
    assert shortened("x" * MAX_MESSAGE_CHARS) == "x" * MAX_MESSAGE_CHARS
    assert shortened("x" * 100_000) == "x" * (MAX_MESSAGE_CHARS - 1) + "…"


async def test_the_first_middleware_is_the_outermost():
    order: list[str] = []

    def named(name: str) -> Any:
        def wrap(handler: Handler) -> Handler:
            async def inner(call: Call, emit: Emit) -> Result:
                order.append(name)
                return await handler(call, emit)

            return inner

        return wrap

    async def work(call: Call, emit: Emit) -> Result:
        order.append("work")
        return text_result("done")

    result = await stack(work, [named("first"), named("second")])(CALL, order.append)  # pyright: ignore[reportArgumentType] - nothing is emitted
    assert result == text_result("done")
    assert order == ["first", "second", "work"]


def test_ids_are_unique_and_sort_by_age():
    ids = [new_id("call") for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert all(re.fullmatch(r"call_[0-9a-f]{32}", id_) for id_ in ids)
    stamps = [id_[:17] for id_ in ids]
    assert stamps == sorted(stamps)


@pytest.mark.parametrize("prefix", KEY_PREFIXES)
def test_a_key_is_its_prefix_and_64_hex_digits_and_is_kept_as_a_hash(prefix: str):
    key = new_key(prefix)
    assert re.fullmatch(prefix + "[0-9a-f]{64}", key)
    assert new_key(prefix) != key
    assert re.fullmatch("[0-9a-f]{64}", key_hash(key))
    assert key_hash(key) == key_hash(key) != key_hash(key + "0")
    assert key[:SHOWN_PREFIX_LEN] not in key_hash(key)


@pytest.mark.parametrize("name", ["web_search", "A-1", "x" * 64])
def test_a_name_that_every_model_takes_is_valid(name: str):
    assert valid_tool_name(name)


@pytest.mark.parametrize("name", ["", "x" * 65, "web search", "a.b", "käse", "a\n"])
def test_other_names_are_not(name: str):
    assert not valid_tool_name(name)


@pytest.mark.parametrize(("value", "found"), [({"a": 1}, {"a": 1}), ([], None), ("x", None), (None, None)])
def test_only_an_object_is_an_object(value: Any, found: Any):
    assert as_object(value) == found


def test_a_definition_shows_what_is_set_and_never_what_is_ours():
    assert Tool("a").definition() == {"name": "a", "description": "", "inputSchema": EMPTY_SCHEMA}
    full = Tool(
        "a",
        "does",
        {"type": "object"},
        "A",
        {"type": "object"},
        {"readOnlyHint": True},
        [{"src": "x:y"}],
        risk_level="high",
        version="2",
        timeout_s=3.0,
        source="agent:a",
        idempotent=True,
    )
    assert full.definition() == {
        "name": "a",
        "description": "does",
        "inputSchema": {"type": "object"},
        "title": "A",
        "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
        "icons": [{"src": "x:y"}],
    }


def test_tools_without_a_schema_do_not_share_one():
    one, two = Tool("a"), Tool("b")
    one.input_schema["required"] = ["x"]
    assert "required" not in two.input_schema
    assert "required" not in EMPTY_SCHEMA


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "b"},
        {"description": "other"},
        {"title": "A"},
        {"input_schema": {"type": "object", "required": ["x"]}},
        {"output_schema": {}},
        {"annotations": {"readOnlyHint": True}},
    ],
)
def test_the_digest_changes_with_everything_that_a_model_reads(fields: dict[str, Any]):
    assert with_fields(Tool("a"), **fields).digest() != Tool("a").digest()


@pytest.mark.parametrize("fields", [{"version": "2"}, {"timeout_s": 1.0}, {"source": "x"}, {"idempotent": True}])
def test_the_digest_does_not_change_with_what_is_ours(fields: dict[str, Any]):
    assert with_fields(Tool("a"), **fields).digest() == Tool("a").digest()


def test_the_digest_does_not_depend_on_the_order_of_keys():
    one = Tool("a", input_schema={"type": "object", "properties": {"x": {}, "y": {}}})
    two = Tool("a", input_schema={"properties": {"y": {}, "x": {}}, "type": "object"})
    assert one.digest() == two.digest()


@pytest.mark.parametrize(
    ("tool", "repeatable"),
    [
        (Tool("a"), False),
        (Tool("a", idempotent=True), True),
        (Tool("a", annotations={"idempotentHint": True}), True),
        (Tool("a", annotations={"readOnlyHint": True}), True),
        (Tool("a", annotations={"readOnlyHint": False, "idempotentHint": "yes"}), False),
    ],
)
def test_a_tool_is_repeatable_only_if_it_says_so(tool: Tool, repeatable: bool):
    assert tool.repeatable is repeatable


def test_depth_counts_lists_and_objects_inside_each_other_and_not_beside():
    value: Any = "[[[{{"
    for _ in range(MAX_DEPTH // 2):
        value = [{"a": value, "b": "]"}]
    assert not is_too_deep(value)
    assert is_too_deep([value])
    assert is_too_deep({"a": [0, value]})
    assert not is_too_deep([[[]] for _ in range(1000)])


def test_only_what_has_many_brackets_may_be_deep():
    for text in ("[" * MAX_DEPTH, '{"a":1}' * MAX_DEPTH):
        assert not may_be_deep(text)
        assert not may_be_deep(text.encode())
        assert may_be_deep(text + "{")
        assert may_be_deep(text.encode() + b"[")
