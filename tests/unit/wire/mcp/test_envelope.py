"""The envelope of 2026-07-28: `_meta`, routing headers, and the order in which they are held against each other
(mcp.md 1.2, 1.3, S28)."""

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.core.errors import HeaderMismatch, InvalidParam, UnsupportedVersion
from toolwire.wire.jsonrpc import Message
from toolwire.wire.mcp.envelope import (
    CAPABILITIES_KEY,
    VERSION_KEY,
    Meta,
    Routing,
    check_headers,
    check_no_modern_meta,
    check_routing,
    check_sent_once,
    decode_header_value,
    names_version,
    read_meta,
)

META: dict[str, Any] = {VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: {"sampling": {}}}


def message(method: str = "tools/list", **params: Any) -> Message:
    return Message(method, {"_meta": META, **params}, b"1")


def headers(method: str = "tools/list", version: str = "2026-07-28", name: bytes | None = None) -> dict[bytes, bytes]:
    found = {b"mcp-protocol-version": version.encode(), b"mcp-method": method.encode()}
    return found if name is None else {**found, b"mcp-name": name}


def test_the_envelope_is_a_version_and_capabilities():
    assert read_meta(message()) == Meta("2026-07-28", {"sampling": {}})


@pytest.mark.parametrize(
    ("meta", "param"),
    [
        (None, "params._meta"),
        ("text", "params._meta"),
        ([], "params._meta"),
        ({CAPABILITIES_KEY: {}}, f"params._meta.{VERSION_KEY}"),
        ({VERSION_KEY: 7, CAPABILITIES_KEY: {}}, f"params._meta.{VERSION_KEY}"),
        ({VERSION_KEY: "2026-07-28"}, f"params._meta.{CAPABILITIES_KEY}"),
        ({VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: []}, f"params._meta.{CAPABILITIES_KEY}"),
        ({VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: None}, f"params._meta.{CAPABILITIES_KEY}"),
    ],
)
def test_a_request_without_its_envelope_is_told_which_part_is_missing(meta: Any, param: str):
    params = {} if meta is None else {"_meta": meta}
    with pytest.raises(InvalidParam) as caught:
        read_meta(Message("tools/list", params, b"1"))
    assert caught.value.data == {"param": param}


def test_headers_that_repeat_the_body_are_fine():
    check_headers(message(), read_meta(message()), headers())
    call = message("tools/call", name="echo")
    check_headers(call, read_meta(call), headers("tools/call", name=b" echo "))


@pytest.mark.parametrize(
    ("method", "param"), [("tools/call", "name"), ("prompts/get", "name"), ("resources/read", "uri")]
)
@pytest.mark.parametrize("name", [None, b"", b"other", b"ECHO", b"echo, echo", b"=?base64?x?="])
def test_the_name_that_routes_a_request_is_the_bodys(method: str, param: str, name: bytes | None):
    asked = message(method, **{param: "echo"})
    with pytest.raises(HeaderMismatch):
        check_headers(asked, read_meta(asked), headers(method, name=name))


@pytest.mark.parametrize("name", [7, None, ["echo"], "é"])
def test_a_name_that_no_header_can_repeat_is_a_mismatch(name: Any):
    asked = message("tools/call", name=name)
    with pytest.raises(HeaderMismatch):
        check_headers(asked, read_meta(asked), headers("tools/call", name=b"echo"))


@pytest.mark.parametrize(
    "found",
    [
        {},
        {b"mcp-method": b"tools/list"},
        headers(version="2025-11-25"),
        headers(version="v999.0.0"),
        {b"mcp-protocol-version": b"2026-07-28"},
        headers("tools/call"),
        headers("TOOLS/LIST"),
        headers("tools/list, tools/list"),
    ],
)
def test_version_and_method_stand_in_headers_too(found: dict[bytes, bytes]):
    with pytest.raises(HeaderMismatch):
        check_headers(message(), read_meta(message()), found)


def test_a_version_on_which_both_agree_and_that_is_not_ours_is_answered_with_ours():
    asked = Message("tools/list", {"_meta": {**META, VERSION_KEY: "v999.0.0"}}, b"1")
    with pytest.raises(UnsupportedVersion) as caught:
        check_headers(asked, read_meta(asked), headers(version="v999.0.0"))
    assert caught.value.data == {"supported": ["2026-07-28"], "requested": "v999.0.0"}


def test_a_mismatch_is_found_before_the_version_is_looked_at():
    asked = Message("tools/list", {"_meta": {**META, VERSION_KEY: "v999.0.0"}}, b"1")
    with pytest.raises(HeaderMismatch):
        check_headers(asked, read_meta(asked), headers("tools/call", version="v999.0.0"))


@pytest.mark.parametrize("name", [b"mcp-protocol-version", b"mcp-method"])
def test_a_routing_header_that_was_sent_twice_is_refused(name: bytes):
    check_sent_once(headers())
    check_sent_once({})
    with pytest.raises(HeaderMismatch, match=name.decode()):
        check_sent_once({**headers(), name: b"a, a"})


@pytest.mark.parametrize("meta", [None, {}, {VERSION_KEY: 7}, {VERSION_KEY: "2025-06-18"}, []])
@pytest.mark.parametrize("header", [None, b"2025-11-25"])
def test_the_older_wire_takes_a_body_that_does_not_name_the_newer_one(meta: Any, header: bytes | None):
    check_no_modern_meta(Message("tools/list", {"_meta": meta}, b"1"), header)


@pytest.mark.parametrize("header", [None, b"2025-11-25", b"\xff"])
def test_a_body_of_the_newer_wire_on_the_older_one_is_told_both_values(header: bytes | None):
    with pytest.raises(HeaderMismatch) as caught:
        check_no_modern_meta(message(), header)
    assert "'2026-07-28'" in caught.value.message
    assert (repr(header.decode("latin-1")) if header else "None") in caught.value.message


def test_a_body_names_a_version_with_a_string_only():
    assert names_version(message()) == "2026-07-28"
    assert names_version(Message("m", {})) is None
    assert names_version(Message("m", {"_meta": {VERSION_KEY: 1}})) is None


def wrapped(raw: bytes) -> bytes:
    return b"=?base64?" + raw + b"?="


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_text_fits_into_a_header_as_base64(text: str):
    assert decode_header_value(b" " + wrapped(b64encode(text.encode())) + b"\t") == text


@pytest.mark.parametrize("value", [b"plain", b"=?base64?", b"?=", b"=?BASE64?YQ==?=", b"=?base64?YQ==", b"\xe9"])
def test_what_is_not_the_base64_form_is_taken_as_it_is(value: bytes):
    assert decode_header_value(value) == value.decode("latin-1")


@pytest.mark.parametrize("raw", [b"YQ", b"YQ=", b"YR==", b"Y Q==", b"Y\xffQ==", b"/w==", b"7aCA", b"YQ==YQ==", b"-_=="])
def test_base64_that_is_not_canonical_or_no_text_is_refused(raw: bytes):
    with pytest.raises(HeaderMismatch, match="canonical"):
        decode_header_value(wrapped(raw))


@given(st.binary(max_size=60))
def test_any_header_is_a_text_or_a_mismatch(value: bytes):
    try:
        decode_header_value(value)
    except HeaderMismatch:
        assert b"=?base64?" in value


@pytest.mark.parametrize(
    "other",
    [
        message("tools/call", name="other"),
        message("tools/call"),
        message("prompts/get", name="echo"),
        Message("tools/call", {"name": "echo"}, b"1"),
        Message("tools/call", {"name": "echo", "_meta": {**META, VERSION_KEY: "v999.0.0"}}, b"1"),
        Message("tools/call", {"name": "echo", "_meta": {VERSION_KEY: "2026-07-28"}}, b"1"),
        Message("tools/call", {"name": "echo", "_meta": {**META, CAPABILITIES_KEY: []}}, b"1"),
        Message("tools/call", {"name": "echo", "_meta": []}, b"1"),
    ],
)
def test_headers_that_were_fine_once_fit_only_what_they_would_be_fine_for_again(other: Message):
    found = headers("tools/call", name=b" echo ")
    routing = check_routing(message("tools/call", name="echo"), found)
    assert routing == Routing("2026-07-28", "tools/call", "echo")
    assert routing.fits(message("tools/call", name="echo", arguments={"text": "hi"}))
    assert not routing.fits(other)
    with pytest.raises((HeaderMismatch, InvalidParam)):
        check_routing(other, found)


def test_headers_of_a_method_that_no_name_routes_fit_it_whatever_its_parameters():
    routing = check_routing(message(), headers())
    assert routing.fits(message(cursor="x", name="echo"))
    assert not routing.fits(message("tools/call", name="echo"))
