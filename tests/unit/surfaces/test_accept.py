"""What an Accept header admits (RFC 9110, 12.5.1; gateway.md D20)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.core.errors import NotAcceptable
from toolwire.surfaces.accept import MAX_REMEMBERED, Accepted, accepted_types

JSON, SSE, BOTH = Accepted(True, False), Accepted(False, True), Accepted(True, True)


@pytest.mark.parametrize(
    ("header", "accepted"),
    [
        (b"*/*", JSON),
        (b"application/json", JSON),
        (b"application/*", JSON),
        (b" APPLICATION/JSON ; q=0.5 , text/html", JSON),
        (b"application/json;charset=utf-8", JSON),
        (b"application/json;q=nonsense", JSON),
        (b"text/event-stream", SSE),
        (b"text/*", SSE),
        (b"text/event-stream, application/json;q=0.0", SSE),
        (b"application/json, text/event-stream", BOTH),
        (b"text/event-stream,*/*;q=0.1", BOTH),
        (b"application/json,text/*,text/event-stream;q=0", JSON),
    ],
)
def test_each_form_is_admitted_where_the_header_names_it(header: bytes, accepted: Accepted):
    for _ in range(2):  # the second time it is remembered
        assert accepted_types({b"accept": header}) == accepted


def test_no_header_and_an_empty_one_mean_json():
    assert accepted_types({}) == JSON
    assert accepted_types({b"accept": b""}) == JSON


@pytest.mark.parametrize(
    "header", [b"text/html", b"application/json;q=0", b"*/*;q=0", b"*", b",", b";", b"application/jsonx", b"\xff"]
)
def test_a_header_that_admits_neither_is_refused(header: bytes):
    for _ in range(2):
        with pytest.raises(NotAcceptable):
            accepted_types({b"accept": header})


@given(st.binary(max_size=40))
def test_any_header_admits_something_or_is_refused(header: bytes):
    try:
        accepted = accepted_types({b"accept": header})
    except NotAcceptable:
        return
    assert accepted.json or accepted.sse


def test_what_is_remembered_of_headers_is_bounded():
    for number in range(2 * MAX_REMEMBERED):
        assert accepted_types({b"accept": b"application/json;v=%d" % number}) == JSON
