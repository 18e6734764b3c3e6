"""cards.md 40-49, 52, decisions 29-32: what handlers return, as results."""

import base64
from typing import Any

import msgspec
import pytest

from toolwire.card import ToolResult, tool_error, tool_image, tool_result, tool_text
from toolwire.card.results import ImageType, error_text, result_of, what_is_wrong
from toolwire.wire.card_messages import ImagePart, TextPart

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
ENCODED = base64.b64encode(PNG).decode()
TEXT: dict[str, Any] = {"type": "text", "text": "x"}


def looped() -> dict[str, Any]:
    """A tree whose nodes know their parent, as many programs have it."""
    parent: dict[str, Any] = {}
    parent["children"] = [{"parent": parent} for _ in range(5)]
    return parent


def deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(200):
        value = [value]
    return value


def doubled() -> list[Any]:
    """Small in memory, endless as JSON."""
    value: list[Any] = [1]
    for _ in range(60):
        value = [value, value]
    return value


def test_a_picture_may_come_as_bytes_base64_or_a_data_url() -> None:
    """cards.md 44, decision 31."""
    expected = ToolResult((ImagePart(ENCODED, "image/png"),))
    assert tool_image(PNG) == expected
    assert tool_image(ENCODED) == expected
    assert tool_image(f"data:image/png;base64,{ENCODED}", "image/jpeg") == expected
    assert tool_image(PNG, caption="below") == ToolResult((*expected.content, TextPart("below")))


@pytest.mark.parametrize(
    ("data", "mime_type", "words"),
    [
        (PNG, "image/svg+xml", "image/svg"),
        (PNG, "image/gif", "no image/gif"),
        ("no base64!", "image/png", "base64"),
        ("data:text/html;base64,PGI+", "image/png", "text/html"),
        (b"", "image/png", "no image/png"),
    ],
)
def test_what_is_no_picture_is_refused_where_it_is_made(data: bytes | str, mime_type: ImageType, words: str) -> None:
    """Decision 31."""
    with pytest.raises(ValueError, match=words):
        tool_image(data, mime_type)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("image/png", PNG),
        ("image/jpeg", b"\xff\xd8\xff\xe0"),
        ("image/gif", b"GIF89a"),
        ("image/webp", b"RIFF\x00\x00\x00\x00WEBP"),
    ],
)
def test_four_types_of_picture_are_taken(kind: ImageType, data: bytes) -> None:
    """Decision 31."""
    assert what_is_wrong(tool_image(data, kind)) is None


@pytest.mark.parametrize(
    ("returned", "is_payload"),
    [
        ({"content": [TEXT]}, True),
        ({"content": [TEXT], "isError": True}, True),
        ({"content": [TEXT], "isError": False}, True),
        ({"content": [TEXT, {"type": "image", "data": ENCODED, "mimeType": "image/png"}]}, True),
        ({"content": [TEXT], "more": 1}, False),
        ({"content": [{**TEXT, "more": 1}]}, False),
        ({"content": [{"type": "audio", "data": ""}]}, False),
        ({"content": []}, False),
        ({"content": "text"}, False),
        ({"content": None}, False),
        ([TEXT], False),
    ],
)
def test_only_what_has_fully_the_form_of_a_result_is_one(returned: Any, is_payload: bool) -> None:
    """cards.md 42, 46, decision 30: the rest is JSON like any other."""
    result = result_of(returned)
    if is_payload:
        assert list(msgspec.to_builtins(result)["content"]) == returned["content"]
        assert result.is_error is returned.get("isError", False)
    else:
        (part,) = result.content
        assert isinstance(part, TextPart)
        assert msgspec.json.decode(part.text) == returned


def test_null_stays_what_an_author_calls_nothing() -> None:
    """cards.md 41, 42: `None` alone is nothing; inside of a value it is null."""
    assert result_of(None) == tool_text("OK")
    assert result_of([None]) == tool_text("[\n  null\n]")


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (float("inf"), "inf"),
        ({"a": [float("nan")]}, "nan"),
        (looped(), "deeper"),
        (deep(), "deeper"),
        (doubled(), "values"),
        ({1, object()}, "JSON"),
        ({"content": [TEXT] * 17}, "17 parts"),
        (ToolResult(()), "0 parts"),
        (tool_text("x" * 1024 * 1024), "1048576 are allowed"),
        (tool_result(*[tool_image(PNG + bytes(100_000))] * 9), "1048576 are allowed"),
        (ToolResult((ImagePart("AAAA", "image/png"),)), "no image/png"),
    ],
)
def test_what_cannot_be_sent_says_why(returned: Any, words: str) -> None:
    """cards.md 48, 49, 52, decisions 29, 31."""
    with pytest.raises(ValueError, match=words):
        result_of(returned)


def test_sixteen_parts_and_a_mebibyte_are_just_right() -> None:
    """cards.md 48, 49, decision 29."""
    assert what_is_wrong(tool_result(*["x"] * 16)) is None
    frame = len(msgspec.json.encode(tool_text("")))
    assert what_is_wrong(tool_text("x" * (1024 * 1024 - frame))) is None
    assert what_is_wrong(tool_text("x" * (1024 * 1024 - frame + 1))) is not None


def test_parts_are_put_together_in_their_order() -> None:
    """cards.md 46."""
    made = tool_result("a", tool_image(PNG, caption="b"), TextPart("c"), is_error=True)
    assert made == ToolResult((TextPart("a"), ImagePart(ENCODED, "image/png"), TextPart("b"), TextPart("c")), True)
    assert tool_error("no").is_error


def test_an_errors_words_are_its_message_or_its_name() -> None:
    """cards.md 50, decision 32."""
    assert error_text(ValueError(" wrong ")) == "wrong"
    assert error_text(KeyError()) == "KeyError"
    assert len(error_text(ValueError("x" * 5000))) == 4000
    group = ExceptionGroup("many", [ValueError("one"), ExceptionGroup("more", [OSError("two")])])
    assert error_text(group) == "one; two"
