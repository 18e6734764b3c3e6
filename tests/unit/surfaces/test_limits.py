"""gateway.md 52, D16, D22, §6: what every HTTP surface refuses before it looks at a request."""

from collections.abc import Sequence
from typing import Any

import pytest

from toolwire.core.errors import HostNotAllowed, OriginNotAllowed, PayloadTooLarge, ToolwireError, UnsupportedMediaType
from toolwire.surfaces.limits import (
    Disconnected,
    Guard,
    Receive,
    check_json,
    credentials_in,
    map_headers,
    read_body,
)


def receiving(*messages: dict[str, Any]) -> Receive:
    left = list(messages)

    async def receive() -> dict[str, Any]:
        return left.pop(0)

    return receive


def pieces(*bodies: bytes) -> list[dict[str, Any]]:
    last = len(bodies) - 1
    return [{"type": "http.request", "body": body, "more_body": n < last} for n, body in enumerate(bodies)]


def test_headers_map_by_name_and_repeated_ones_are_joined():
    raw = [(b"accept", b"a/b"), (b"host", b"localhost"), (b"accept", b"c/d")]
    assert map_headers(raw) == {b"accept": b"a/b, c/d", b"host": b"localhost"}


def test_every_header_that_can_carry_a_key_is_found_each_time_it_stands():
    raw = [(b"authorization", b"Bearer a"), (b"cookie", b"x"), (b"x-agent-api-key", b"b"), (b"authorization", b"c")]
    assert credentials_in(raw) == [b"Bearer a", b"b", b"c"]


@pytest.mark.parametrize(
    "media_type",
    [
        b"application/json",
        b"application/json; charset=utf-8",
        b"Application/JSON;charset=UTF-8",
        b"application/json ; a=b",
    ],
)
def test_json_in_utf8_is_taken(media_type: bytes):
    check_json({b"content-type": media_type})


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {b"content-type": b"text/plain"},
        {b"content-type": b"application/jsonp"},
        {b"content-type": b"application/x-www-form-urlencoded"},
        {b"content-type": b"application/json; charset=latin-1"},
        {b"content-type": b"application/json, text/plain"},
        {b"content-type": b"application/json", b"content-encoding": b"gzip"},
    ],
)
def test_any_other_body_is_an_unsupported_media_type(headers: dict[bytes, bytes]):
    with pytest.raises(UnsupportedMediaType):
        check_json(headers)


@pytest.mark.parametrize("bodies", [(b"",), (b"whole",), (b"in ", b"three", b" pieces")])
async def test_a_body_is_read_to_its_end(bodies: Sequence[bytes]):
    assert await read_body(receiving(*pieces(*bodies)), {}, 64) == b"".join(bodies)


async def test_a_body_declared_too_large_is_refused_before_it_is_read():
    with pytest.raises(PayloadTooLarge):
        await read_body(receiving(), {b"content-length": b"65"}, 64)


@pytest.mark.parametrize("bodies", [(b"x" * 65,), (b"x" * 64, b"x", b"more")])
async def test_a_body_that_turns_out_too_large_is_refused(bodies: Sequence[bytes]):
    with pytest.raises(PayloadTooLarge):
        await read_body(receiving(*pieces(*bodies)), {b"content-length": b"1"}, 64)


@pytest.mark.parametrize("sent", [[], [{"type": "http.request", "body": b"half", "more_body": True}]])
async def test_a_client_that_goes_away_is_not_answered(sent: list[dict[str, Any]]):
    with pytest.raises(Disconnected):
        await read_body(receiving(*sent, {"type": "http.disconnect"}), {}, 64)


OURS = Guard(["tools.example", "only.example:8443"], ["https://app.example"], "https://gw.example:444")


def refusal(host: str | None, origin: str | None = None, guard: Guard = OURS) -> type[ToolwireError] | None:
    headers = {b"host": host.encode()} if host is not None else {}
    if origin is not None:
        headers[b"origin"] = origin.encode()
    try:
        guard.check(headers)
    except ToolwireError as error:
        return type(error)
    return None


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8094", "LOCALHOST:1", "a.localhost", "127.0.0.1:8094", "[::1]:8094", "[::1]", "192.0.2.7",
     "tools.example", "tools.example:99", "only.example:8443", "gw.example:444"],
)  # fmt: skip
def test_addresses_and_our_own_names_are_ours(host: str):
    """An address cannot be rebound: only names can."""
    assert refusal(host) is None


@pytest.mark.parametrize(
    "host",
    [None, "", "evil.example.com", "localhost.evil.example", "evil.example:8094", "only.example", "gw.example",
     "127.0.0.1.evil.example", "127.0.0.1:80:80", "[::1", "localhost, evil.example", "localhost:8x", "user@localhost"],
)  # fmt: skip
def test_any_other_name_is_refused(host: str | None):
    """mcp.md, dns-rebinding-protection."""
    assert refusal(host) is HostNotAllowed


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:8094", "http://localhost:8094"),
        ("localhost:8094", "http://localhost:6274"),
        ("127.0.0.1:8094", "http://[::1]:5173"),
        ("tools.example", "https://tools.example"),
        ("tools.example", "https://app.example"),
        ("localhost:8094", "https://APP.example"),
        ("localhost:8094", "https://gw.example:444"),
        ("192.0.2.7:8094", "http://192.0.2.7:8094"),
    ],
)
def test_pages_of_ours_may_ask(host: str, origin: str):
    assert refusal(host, origin) is None


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:8094", "http://evil.example.com"),
        ("localhost:8094", "null"),
        ("localhost:8094", ""),
        ("localhost:8094", "http://localhost.evil.example"),
        ("localhost:8094", "file://localhost"),
        ("tools.example", "http://localhost:6274"),
        ("tools.example", "https://tools.example:1"),
        ("192.0.2.7:8094", "http://192.0.2.8:8094"),
        ("localhost:8094", "http://"),
        ("localhost:8094", "http://[::1"),
    ],
)
def test_pages_of_others_may_not(host: str, origin: str):
    """gateway.md D22: 403."""
    assert refusal(host, origin) is OriginNotAllowed


def test_what_was_found_good_once_stays_good_and_what_was_bad_stays_bad():
    guard = Guard()
    for _ in range(2):
        assert refusal("localhost:1", "http://localhost:2", guard) is None
        assert refusal("evil.example", None, guard) is HostNotAllowed


def test_a_star_lets_all_in():
    guard = Guard(["*"], ["*"])
    assert refusal("evil.example", "https://evil.example", guard) is None
    assert refusal("not a host", None, guard) is HostNotAllowed


def test_the_servers_own_address_is_added_once_it_is_known():
    guard = Guard()
    assert refusal("box.lan:8094", None, guard) is HostNotAllowed
    guard.add_url("http://box.lan:8094")
    assert refusal("box.lan:8094", "http://box.lan:8094", guard) is None
