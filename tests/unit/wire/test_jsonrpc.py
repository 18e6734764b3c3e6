"""JSON-RPC as bytes: what is a message, what is refused and in which words, and that ids come back byte for byte."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolwire.core.error_rows import ERRORS
from toolwire.core.errors import InvalidRequest, ParseError, ToolwireError, shortened
from toolwire.wire.jsonrpc import NO_ID, Message, Posted, decode, error_body, notification_body, result_body

# Without lone surrogates, which no UTF-8 can carry.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBER = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON_VALUE = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
ID = st.integers(-(2**63), 2**64 - 1) | TEXT


def outcome(body: bytes) -> Message | Posted | ToolwireError:
    try:
        return decode(body)
    except ToolwireError as error:
        return error


def refused(body: bytes) -> ToolwireError:
    with pytest.raises(ToolwireError) as caught:
        decode(body)
    return caught.value


@given(ID, TEXT, st.dictionaries(TEXT, JSON_VALUE, max_size=4), st.booleans())
def test_a_request_comes_out_as_it_went_in(id_: Any, method: str, params: dict[str, Any], ascii_only: bool):
    body = json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}, ensure_ascii=ascii_only)
    message = decode(body.encode())
    assert isinstance(message, Message)
    assert (message.method, message.params, message.id_value) == (method, params, id_)
    assert message.is_request


@given(st.binary(max_size=200))
@example(b'{"jsonrpc":"2.0","id":1,"method":"x","params":"\xff"}')
def test_any_bytes_are_a_message_or_refused_in_our_own_words(body: bytes):
    assert isinstance(outcome(body), Message | Posted | ParseError | InvalidRequest)


@given(JSON_VALUE)
def test_any_json_is_a_message_or_an_invalid_request(value: Any):
    assert isinstance(outcome(json.dumps(value).encode()), Message | Posted | InvalidRequest)


@given(st.dictionaries(st.sampled_from(["jsonrpc", "method", "id", "params", "result", "error", "more"]), JSON_VALUE))
def test_any_object_with_the_members_of_a_message_is_one_or_an_invalid_request(value: dict[str, Any]):
    found = outcome(json.dumps({"jsonrpc": "2.0", **value}).encode())
    assert isinstance(found, Message | Posted | InvalidRequest)
    raw_id = found.data.get("raw_id") if isinstance(found, InvalidRequest) else None
    assert raw_id is None or json.loads(raw_id) == value["id"]


@pytest.mark.parametrize(
    "raw",
    [
        b"1",
        b"-0",
        b"0",
        b'"a"',
        b'""',
        b'"1"',
        b'"\\u00e9\\/"',
        '"é"'.encode(),
        b"99999999999999999999999999",
        b'"\x7f"',
    ],
)
def test_an_id_is_repeated_byte_for_byte(raw: bytes):
    message = decode(b'{"jsonrpc":"2.0", "id" : %b , "method":"ping"}' % raw)
    assert isinstance(message, Message)
    assert result_body(message.id, b"{}") == b'{"jsonrpc":"2.0","id":%b,"result":{}}' % raw


def test_two_spellings_of_an_id_are_one_id():
    spelled = [decode(b'{"jsonrpc":"2.0","id":%b,"method":"ping"}' % raw) for raw in (b'"\\u0061\\/b"', b'"a/b"')]
    assert [m.id_value for m in spelled if isinstance(m, Message)] == ["a/b", "a/b"]


@pytest.mark.parametrize(
    "raw",
    [b"null", b"1.5", b"1.0", b"1e2", b"true", b"[1]", b'{"a":1}', b'"\xff"', b"9" * 5000],
)
def test_an_id_that_is_neither_text_nor_integer_is_refused_and_answered_to_nobody(raw: bytes):
    error = refused(b'{"jsonrpc":"2.0","id":%b,"method":"ping"}' % raw)
    assert type(error) is InvalidRequest
    assert error.data == {}


@pytest.mark.parametrize("body", [b'{"jsonrpc":"2.0","method":"m"}', b'{"jsonrpc":"2.0","method":"m","params":null}'])
def test_a_message_without_an_id_is_a_notification(body: bytes):
    message = decode(body)
    assert message == Message("m", {})
    assert isinstance(message, Message)
    assert not message.is_request
    assert message.id == NO_ID


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"   ",
        b"nonsense",
        b"{",
        b'{"jsonrpc":"2.0","id":1,"method":"ping"',
        b'{"jsonrpc":"2.0","id":1,"method":"ping"} {}',
        b'{"jsonrpc":"2.0","id":01,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":"a\nb"}',
        b'{"jsonrpc":"2.0","id":"a\rb","method":"m"}',
        b'{"jsonrpc":"2.0","id":"\\ud800","method":"m"}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":Infinity}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":1e999}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"s":"\xff"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"s":"\xed\xa0\x80"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"s":"\\ud800"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":%b}}' % (b"9" * 5000),
        '\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode(),
        '{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"),
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":%b' % (b"[" * 100_000),
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":%b}}' % (b"[" * 100_000 + b"]" * 100_000),
        b'{"more":%b,"jsonrpc":"2.0","id":1,"method":"ping"}' % (b"[" * 100_000 + b"]" * 100_000),
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
)
def test_what_is_not_json_is_a_parse_error(body: bytes):
    error = refused(body)
    assert type(error) is ParseError
    assert len(error.message) < 200


def test_params_may_be_deep_and_not_without_end():
    """What comes after goes into them in turn: no step may be the first that cannot."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":%b}}'
    assert isinstance(decode(body % (b"[" * 127 + b"]" * 127)), Message)
    assert isinstance(decode(body % (b'["%b"]' % (b"[" * 1000))), Message)
    for depth in (128, 500, 950, 10_000):
        error = refused(body % (b"[" * depth + b"]" * depth))
        assert type(error) is ParseError


@pytest.mark.parametrize("body", [b"[]", b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', b"[[]]"])
def test_a_batch_is_refused_as_one(body: bytes):
    error = refused(body)
    assert type(error) is InvalidRequest
    assert "batches" in error.message


@pytest.mark.parametrize("body", [b"1", b'"text"', b"null", b"true", b"1.5"])
def test_a_body_that_is_no_object_is_refused(body: bytes):
    assert type(refused(body)) is InvalidRequest


@pytest.mark.parametrize(
    "members",
    [
        b'"jsonrpc":"1.0","method":"ping"',
        b'"method":"ping"',
        b'"jsonrpc":2.0,"method":"ping"',
        b'"jsonrpc":"2.0"',
        b'"jsonrpc":"2.0","method":1',
        b'"jsonrpc":"2.0","method":"ping","params":[1]',
        b'"jsonrpc":"2.0","method":"ping","params":"x"',
    ],
)
@pytest.mark.parametrize("raw", [b"7", '"é"'.encode(), b'"\\u00e9"'])
def test_an_object_that_is_no_message_is_refused_under_its_id(members: bytes, raw: bytes):
    error = refused(b'{%b,"id":%b}' % (members, raw))
    assert type(error) is InvalidRequest
    assert error.data["raw_id"].encode() == raw


@pytest.mark.parametrize("id_", [b"", b',"id":null', b',"id":[]', b',"id":"\\ud800"'])
def test_an_object_that_is_no_message_and_has_no_usable_id_is_refused_without_one(id_: bytes):
    assert refused(b'{"jsonrpc":"2.0"%b}' % id_).data.get("raw_id") is None


def test_of_a_doubled_member_the_last_one_counts():
    message = decode(b'{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b","params":{"x":1,"x":2}}')
    assert message == Message("b", {"x": 2}, b"2")


def test_members_that_nobody_knows_are_passed_over():
    assert decode(b'{"more":[1,{"a":2}],"jsonrpc":"2.0","id":1,"method":"m"}') == Message("m", {}, b"1")


@pytest.mark.parametrize(
    ("body", "posted"),
    [
        (b'{"jsonrpc":"2.0","id":1,"result":{"a":1}}', Posted(1, {"a": 1}, None)),
        (b'{"jsonrpc":"2.0","id":"x","error":{"code":-1}}', Posted("x", None, {"code": -1})),
    ],
)
def test_a_response_of_the_peers_is_told_apart(body: bytes, posted: Posted):
    assert decode(body) == posted


@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc":"2.0","id":null,"result":{}}',
        b'{"jsonrpc":"2.0","result":{}}',
        b'{"jsonrpc":"2.0","id":1,"result":[]}',
        b'{"jsonrpc":"2.0","id":1,"result":{},"error":{}}',
        b'{"jsonrpc":"2.0","id":1,"error":null}',
        b'{"jsonrpc":"2.0","id":1,"result":{"s":"\xff"}}',
    ],
)
def test_a_response_that_is_none_is_refused(body: bytes):
    assert type(refused(body)) is InvalidRequest


def test_an_error_says_its_stable_code_and_whether_to_try_again():
    body = error_body(b"7", ERRORS["agent_busy"], "agent_busy", "busy", {"request_id": "req_1", "raw_id": "7"})
    assert json.loads(body) == {
        "jsonrpc": "2.0",
        "id": 7,
        "error": {
            "code": -32603,
            "message": "busy",
            "data": {"code": "agent_busy", "retryable": True, "request_id": "req_1"},
        },
    }


def test_what_an_error_knows_of_trying_again_wins_over_the_table():
    body = error_body(NO_ID, ERRORS["service_timeout"], "service_timeout", "late", {"retryable": True})
    assert json.loads(body)["error"]["data"] == {"code": "service_timeout", "retryable": True}
    assert json.loads(body)["id"] is None


@given(TEXT, JSON_VALUE)
def test_no_message_and_no_value_breaks_the_frame_of_an_error(message: str, value: Any):
    body = error_body(b"1", ERRORS["invalid_param"], "invalid_param", message, {"value": value})
    assert json.loads(body)["error"]["message"] == shortened(message)
    assert b"\n" not in body
    assert b"\r" not in body


def test_a_notification_has_no_id():
    assert json.loads(notification_body("notifications/x", {"a": 1})) == {
        "jsonrpc": "2.0",
        "method": "notifications/x",
        "params": {"a": 1},
    }


@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc":"3.0","id":1,"result":{}}',
        b'{"id":1,"error":{"code":-1,"message":"no"}}',
        b'{"jsonrpc":"2.0","id":1,"result":{},"params":[]}',
        b'{"jsonrpc":"2.0","id":1,"result":7}',
        b'{"jsonrpc":"2.0","id":1,"result":{},"error":{}}',
    ],
)
def test_an_answer_that_is_none_is_not_refused_under_its_id_which_is_one_of_ours(body: bytes):
    """On stdio such an error would look like the answer to the peer's own request 1."""
    with pytest.raises(InvalidRequest) as refused:
        decode(body)
    assert refused.value.data.get("raw_id") is None
