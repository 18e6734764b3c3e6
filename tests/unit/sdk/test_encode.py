"""Values as JSON, and the paths to those that have no JSON form (sdk.md 19, §3.11)."""

import collections
import datetime
import socket
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.sdk.encode import MAX_DEPTH, Unencodable, clean_text, encode, plain


@dataclass
class Row:
    at: Any


class Struct(msgspec.Struct):
    a: Any
    b: Any = msgspec.UNSET


class Tagged(msgspec.Struct, tag="t"):
    a: int


class Model(pydantic.BaseModel):
    n: int


@attrs.define
class Classic:
    a: int
    b: Any
    _hidden: int = 0


def shout() -> Any:
    yield 1


@pytest.mark.parametrize(
    "value, path",
    [
        ({"rows": [1, 2, 3, Row(shout)]}, "output.rows[3].at: function"),
        ([object()], "output[0]: object"),
        (shout(), "output: generator"),
        (int, "output: type"),
        ({"a": {"b": Struct(1j)}}, "output.a.b.a: complex"),
        ({"a": {(1, 2): 3}}, "output.a: key (1, 2) of type tuple"),
        ({"a": ValueError("x")}, "output.a: ValueError"),
        ({"a": socket.AF_INET, "b": socket.socket}, "output.b: type"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_the_path_leads_to_what_has_no_json_form(value: Any, path: str):
    with pytest.raises(Unencodable) as caught:
        encode(value)
    assert str(caught.value) == path


def test_a_value_that_contains_itself_is_found():
    ring: dict[str, Any] = {"a": []}
    ring["a"].append(ring)

    with pytest.raises(Unencodable, match=r"^output\.a\[0\]: contains itself$"):
        encode(ring)


def test_a_value_that_stands_twice_is_no_ring():
    shared = [object.__name__]

    assert encode([shared, shared, {"a": {1: shared}}]) == b'[["object"],["object"],{"a":{"1":["object"]}}]'


def test_a_value_that_is_nested_too_deeply_is_refused():
    deep: Any = object()
    for _ in range(100_000):
        deep = [deep]

    with pytest.raises(Unencodable, match=rf"nested more than {MAX_DEPTH} deep$"):
        encode(deep)


@pytest.mark.parametrize(
    "value, shown",
    [
        (collections.deque([1, {2}]), [1, [2]]),
        (collections.OrderedDict[str, int](b=1, a=2), {"b": 1, "a": 2}),
        ({"a": {1: 2}.keys(), "b": {1: 2}.values()}, {"a": [1], "b": [2]}),
        (collections.UserDict(a=1), {"a": 1}),
        ({True: 1, None: 2, 1.5: 3}, {"true": 1, "null": 2, "1.5": 3}),
        (Struct(1), {"a": 1}),
        ([Struct({True: 1}, 2)], [{"a": {"true": 1}, "b": 2}]),
        (memoryview(b"hi"), "aGk="),
        (
            [datetime.date(2026, 7, 28), datetime.timedelta(seconds=5), Path("a"), b"x", {True: 1}],
            ["2026-07-28", "PT5S", "a", "eA==", {"true": 1}],
        ),
        ([Classic(1, Path("p")), {True: Classic(2, None)}], [{"a": 1, "b": "p"}, {"true": {"a": 2, "b": None}}]),
        ([Tagged(1), {True: Tagged(2)}], [{"type": "t", "a": 1}, {"true": {"type": "t", "a": 2}}]),
        ({True: Fraction(1, 2).numerator, "m": Model(n=1)}, {"true": 1, "m": {"n": 1}}),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_containers_of_other_kinds_are_lists_and_objects(value: Any, shown: Any):
    assert msgspec.json.decode(encode(value)) == shown


def test_lone_surrogates_are_replaced_wherever_they_are():
    assert msgspec.json.decode(encode({"a\ud800": ["b\udc00", "\U0001f600"]})) == {"a\ufffd": ["b\ufffd", "\U0001f600"]}


@pytest.mark.parametrize(
    "text, clean",
    [("plain", "plain"), ("ü😀", "ü😀"), ("a\ud83d\ude00", "a😀"), ("\ud83d", "\ufffd"), ("\ude00x", "\ufffdx")],
)
def test_text_is_cleaned_of_what_utf_8_cannot_carry(text: str, clean: str):
    assert clean_text(text) == clean


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_json_values_come_through_both_ways_unchanged(value: Any):
    assert msgspec.json.decode(encode(value)) == value
    assert plain(value) == value
