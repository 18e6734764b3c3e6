"""What an idempotency key stands for: gateway.md D1 (scope), D2 (fingerprint), D3 (mismatch), D8 (syntax), D9."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.engine.fakes import EPOCH
from toolwire.core.call import Attachment, Call, Caller
from toolwire.core.errors import IdempotencyKeyReused, InvalidParam
from toolwire.engine.claims import Claim, check_key, check_same, decode_claim, encode_claim, fingerprint_of, scope_of

BASE = Call("call_1", Caller("alice", "alice", "gateway"), "work", {"q": "tea", "n": 1}, EPOCH, "agent_1", "user_7:q3")


def call_with(**fields: Any) -> Call:
    """A call like `BASE` but for these fields."""
    known = {name: getattr(BASE, name) for name in BASE.__struct_fields__}
    return Call(**{**known, **fields})


@pytest.mark.parametrize("key", ["k", "user_7:q3_summary", " ", "käse 🧀", "x" * 255])
def test_a_key_is_any_text_of_1_to_255_characters(key: str):
    assert check_key(key) == key


@pytest.mark.parametrize("key", [7, None, ["k"], True, "", "x" * 256, "a\nb", "a\x00", "a\x7f", "a\x9f", "a\ud800"])
def test_what_is_no_such_text_is_refused_and_not_quoted(key: object):
    with pytest.raises(InvalidParam) as refused:
        check_key(key)
    assert refused.value.data == {"param": "arguments.idempotency_key"}
    assert repr(key) not in refused.value.message.replace("256", "").replace("255", "")


@pytest.mark.parametrize(
    "fields",
    [
        {"caller": Caller("bob", "alice", "gateway")},
        {"agent_id": "agent_2"},
        {"idempotency_key": "user_7:q4"},
    ],
)
def test_a_key_belongs_to_one_principal_and_one_agent(fields: dict[str, Any]):
    assert scope_of(call_with(**fields)) != scope_of(BASE)


@pytest.mark.parametrize(
    "fields",
    [
        {"id": "call_2"},
        {"tool": "other"},
        {"arguments": {}},
        {"deadline": EPOCH + 60},
        {"context_id": "ch_1"},
        {"caller": Caller("alice", "alice", "rest", ("tools",), "session_1")},
    ],
)
def test_nothing_of_the_request_around_it_moves_a_key(fields: dict[str, Any]):
    assert scope_of(call_with(**fields)) == scope_of(BASE)


def test_neighbouring_parts_of_a_scope_cannot_be_shifted_into_each_other():
    one = call_with(caller=Caller("a", "a", "gateway"), agent_id="bc")
    other = call_with(caller=Caller("ab", "a", "gateway"), agent_id="c")
    assert scope_of(one) != scope_of(other)


def test_neither_scope_nor_claim_has_the_key_in_clear():
    row = encode_claim(Claim("call_1", "alice", fingerprint_of(BASE), EPOCH, EPOCH + 1))
    assert b"user_7" not in row
    assert "user_7" not in scope_of(BASE)


@pytest.mark.parametrize(
    "arguments",
    [
        {"n": 1, "q": "tea"},
        {"n": 1.0, "q": "tea"},
        {"q": "tea", "n": 1e0},
    ],
)
def test_the_order_of_keys_and_the_spelling_of_a_number_do_not_matter(arguments: dict[str, Any]):
    assert fingerprint_of(call_with(arguments=arguments)) == fingerprint_of(BASE)


@pytest.mark.parametrize("pair", [({"x": [0, {"y": -0.0}]}, {"x": [0.0, {"y": 0}]}), ({"x": 2.0**52}, {"x": 2**52})])
def test_numbers_are_compared_by_value_at_any_depth(pair: tuple[dict[str, Any], dict[str, Any]]):
    assert fingerprint_of(call_with(arguments=pair[0])) == fingerprint_of(call_with(arguments=pair[1]))


@pytest.mark.parametrize(
    "fields",
    [
        {"tool": "other"},
        {"arguments": {"q": "tea"}},
        {"arguments": {"q": "tea", "n": "1"}},
        {"arguments": {"q": "tea", "n": True}},
        {"arguments": {"q": "tea", "n": 1.5}},
        {"arguments": {"q": "tea", "n": None}},
        {"arguments": {"q": "tea", "n": [1]}},
        {"attachments": (Attachment("file_1"),)},
    ],
)
def test_another_tool_or_other_arguments_or_files_are_something_else(fields: dict[str, Any]):
    assert fingerprint_of(call_with(**fields)) != fingerprint_of(BASE)


def test_attachments_count_with_their_overrides_and_their_order():
    one, two = Attachment("file_1"), Attachment("file_2")
    prints = {
        fingerprint_of(call_with(attachments=files))
        for files in [(one, two), (two, one), (one, Attachment("file_2", filename="b.txt"))]
    }
    assert len(prints) == 3


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text("aé"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc"), inner, max_size=3),
)


def reordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: reordered(v) for k, v in reversed(value.items())}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - any JSON
    if isinstance(value, list):
        return [reordered(v) for v in value]  # pyright: ignore[reportUnknownVariableType] - any JSON
    if type(value) is int and abs(value) < 2**53:
        return float(value)
    return value


@given(st.dictionaries(st.text("abc"), JSON, max_size=4))
def test_any_arguments_have_the_fingerprint_of_the_same_in_another_spelling(arguments: dict[str, Any]):
    assert fingerprint_of(call_with(arguments=reordered(arguments))) == fingerprint_of(call_with(arguments=arguments))


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"in": value}
    return value


@pytest.mark.parametrize("arguments", [{"x": object()}, {"x": "\ud800"}, nested(100_000)])
def test_arguments_that_are_no_json_or_nested_too_deeply_are_refused(arguments: dict[str, Any]):
    with pytest.raises(InvalidParam) as refused:
        fingerprint_of(call_with(arguments=arguments))
    assert refused.value.data == {"param": "arguments"}


def test_a_claim_survives_its_row():
    claim = Claim("call_1", "alice", fingerprint_of(BASE), EPOCH, EPOCH + 86_400)
    assert decode_claim(encode_claim(claim)) == claim


def test_a_repeat_passes_and_something_else_is_refused():
    claim = Claim("call_1", "alice", fingerprint_of(BASE), EPOCH, EPOCH + 86_400)
    check_same(claim, fingerprint_of(call_with(id="call_2")))
    with pytest.raises(IdempotencyKeyReused) as refused:
        check_same(claim, fingerprint_of(call_with(tool="other")))
    assert refused.value.code == "idempotency_key_reused"
    assert refused.value.data == {"param": "arguments.idempotency_key"}
