"""What a tool may return, and the blocks and structured content it becomes (sdk.md 11-15, §3.11; gateway.md D17)."""

import datetime
import enum
from base64 import b64decode
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, TypedDict
from uuid import UUID

import msgspec
import pydantic
import pytest
from msgspec import UNSET

from toolwire.core import result as core
from toolwire.core.result import TOOL_FAILED, Failure, Result, Text, text_result
from toolwire.sdk import ContentRef, Image, MemoryContentStore, Resource, ToolResult
from toolwire.sdk.result import META_ARTIFACTS, META_FILE_CHANGES, META_SIDE_EFFECTS, META_SUMMARY, to_result


class Color(enum.Enum):
    RED = "red"


class Word(enum.StrEnum):
    HELLO = "hello"


@dataclass
class Point:
    x: int
    at: datetime.date | None = None


class Named(TypedDict):
    name: str


class Pair(NamedTuple):
    a: int
    b: str


class Wire(msgspec.Struct, rename="camel", tag="wire"):
    max_size: int


class Model(pydantic.BaseModel):
    n: int = pydantic.Field(serialization_alias="number")


class Loud(str):
    __slots__ = ()


@pytest.mark.parametrize(
    "value, text",
    [
        ("plain", "plain"),
        ("22°C", "22°C"),
        ("", ""),
        (None, ""),
        (5, "5"),
        (1.5, "1.5"),
        (True, "true"),
        (2**70, "1180591620717411303424"),
        (float("nan"), ""),
        (datetime.datetime(2026, 7, 28, 12, tzinfo=datetime.UTC), "2026-07-28T12:00:00Z"),
        (datetime.timedelta(seconds=5), "PT5S"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Decimal("1.50"), "1.50"),
        (Path("a/b"), "a/b"),
        (b"hi", "aGk="),
        (Color.RED, "red"),
        (Word.HELLO, "hello"),
        (Loud("loud"), "loud"),
        ([], "[]"),
        ([1, "a", None], '[1,"a",null]'),
        ((1, 2), "[1,2]"),
        (Pair(1, "x"), '[1,"x"]'),
        ({3, 1, 2}, "[1,2,3]"),
        (frozenset({"b", "a"}), '["a","b"]'),
        (range(3), "[0,1,2]"),
        ("a\ud800b", "a\ufffdb"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_no_object_is_one_text_block(value: Any, text: str):
    assert to_result(value) == text_result(text)


@pytest.mark.parametrize(
    "value, shown",
    [
        ({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}),
        (Named(name="n"), {"name": "n"}),
        (Point(1, datetime.date(2026, 7, 28)), {"x": 1, "at": "2026-07-28"}),
        (Wire(3), {"type": "wire", "maxSize": 3}),
        (Model(n=2), {"number": 2}),
        ({1: "a", None: "c"}, {"1": "a", "null": "c"}),
        ({Color.RED: {Word.HELLO}}, {"red": ["hello"]}),
        ({"a": float("inf"), "b": Loud("x\udfff")}, {"a": None, "b": "x\ufffd"}),
        ({}, {}),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_an_object_is_text_and_structured_content_that_say_the_same(value: Any, shown: dict[str, Any]):
    result = to_result(value)

    assert result.structured == shown
    assert [msgspec.json.decode(block.text) for block in result.content if isinstance(block, Text)] == [shown]
    assert result.error is None


def test_structured_content_is_not_shared_with_what_was_returned():
    returned: dict[str, Any] = {"a": [1]}
    result = to_result(returned)

    returned["a"].append(2)

    assert result.structured == {"a": [1]}


def test_a_picture_is_an_image_block():
    result = to_result(Image(b"\x89PNG", "image/png"))

    assert result == Result(content=(core.Image(data="iVBORw==", mime_type="image/png"),))


def test_a_resource_is_embedded_with_its_body_and_a_link_without_one():
    """gateway.md D17: a `resource` with nothing but a URI would fail the official client's validation."""
    text = to_result(Resource("file:///a.txt", text="hello", mime_type="text/plain"))
    data = to_result(Resource("file:///a.bin", data=b"hi"))
    link = to_result(Resource("https://example.com/docs/report.pdf", mime_type="application/pdf"))

    assert text.content == (core.Embedded(core.ResourceContents("file:///a.txt", "text/plain", "hello")),)
    assert data.content == (core.Embedded(core.ResourceContents("file:///a.bin", blob="aGk=")),)
    assert link.content == (
        core.Link("https://example.com/docs/report.pdf", "report.pdf", mime_type="application/pdf"),
    )


def test_a_list_with_a_block_is_a_list_of_blocks():
    result = to_result(["before", Image(b"x", "image/gif"), {"a": 1}, core.Text("t"), Resource("x:y", text="z"), None])

    assert result.content == (
        Text("before"),
        core.Image("eA==", "image/gif"),
        Text('{"a":1}'),
        Text("t"),
        core.Embedded(core.ResourceContents("x:y", text="z")),
        Text(""),
    )
    assert result.structured is UNSET


def test_a_content_block_and_a_whole_result_pass():
    whole = Result(content=(Text("a"),), structured={"b": 1}, meta={"c": 2})

    assert to_result(core.Audio("UklGRg==", "audio/wav")).content == (core.Audio("UklGRg==", "audio/wav"),)
    assert to_result(whole) is whole


def test_wrapping_puts_what_is_no_object_into_one():
    assert to_result("a", wrap=True) == Result(content=(Text("a"),), structured={"result": "a"})
    assert to_result(None, wrap=True) == Result(content=(Text(""),), structured={"result": None})
    assert to_result([1], wrap=True) == Result(content=(Text("[1]"),), structured={"result": [1]})


def test_a_successful_tool_result_shows_its_output_and_not_its_summary():
    """sdk.md 12, 13."""
    result = to_result(ToolResult(success=True, output="22°C in Tokyo", summary="asked the station"))

    assert result.content == (Text("22°C in Tokyo"),)
    assert result.error is None
    assert result.meta == {META_SUMMARY: "asked the station"}


def test_the_seeds_tool_result_is_nothing_but_its_text():
    assert to_result(ToolResult(success=True, output="22°C in Tokyo")) == text_result("22°C in Tokyo")
    assert to_result(ToolResult(success=True)) == text_result("")


def test_a_failed_tool_result_shows_its_summary_as_the_error():
    """sdk.md 13."""
    result = to_result(ToolResult(success=False, summary="city not found"))

    assert result == Result(content=(Text("city not found"),), error=Failure(TOOL_FAILED, "city not found"))


def test_a_failed_tool_result_without_a_summary_says_tool_failed():
    """sdk.md 13."""
    assert to_result(ToolResult(False)) == Result(
        content=(Text("tool failed"),), error=Failure(TOOL_FAILED, "tool failed")
    )


def test_a_failed_tool_results_output_goes_along():
    """sdk.md 13."""
    result = to_result(ToolResult(success=False, output={"code": 7}, summary="no"))

    assert result.content == (Text("no"), Text('{"code":7}'))
    assert result.structured == {"code": 7}
    assert result.error == Failure(TOOL_FAILED, "no")


def test_images_by_reference_are_read_from_the_store():
    """sdk.md 14."""
    store = MemoryContentStore()
    picture = store.put(b"\x89PNG", media_type="image/png")
    other = store.put(b"%PDF", media_type="application/pdf")

    alone = to_result(ToolResult(success=True, images=[picture]), store)
    both = to_result(ToolResult(success=True, output="see", images=[picture, other]), store)

    assert alone.content == (core.Image("iVBORw==", "image/png"),)
    assert both.content[:2] == (Text("see"), core.Image("iVBORw==", "image/png"))
    assert both.content[2] == core.Embedded(
        core.ResourceContents(f"sha256:{other.hash}", "application/pdf", blob="JVBERg==")
    )


def test_what_no_model_reads_goes_into_the_meta():
    ref = ContentRef("ab", 2, "text/plain")
    result = to_result(
        ToolResult(True, "x", artifacts=[ref], side_effects=[{"wrote": Path("a")}], file_changes=[{"path": "a"}])
    )

    assert result.meta == {
        META_ARTIFACTS: [{"hash": "ab", "size": 2, "media_type": "text/plain"}],
        META_SIDE_EFFECTS: [{"wrote": "a"}],
        META_FILE_CHANGES: [{"path": "a"}],
    }


def test_a_tool_result_is_frozen_and_positional():
    """sdk.md 11."""
    result = ToolResult(True, "out", "sum")

    assert (result.success, result.output, result.summary) == (True, "out", "sum")
    assert (result.artifacts, result.images, result.side_effects) == ([], [], [])
    assert (result.output_ref, result.file_changes) == (None, None)
    with pytest.raises(AttributeError):
        result.output = "other"  # pyright: ignore[reportAttributeAccessIssue]


def test_the_store_keeps_the_same_bytes_once_and_names_them_by_their_hash():
    """sdk.md 14."""
    store = MemoryContentStore()
    first = store.put(b"hi", media_type="text/plain")
    second = store.put(bytearray(b"hi"))  # pyright: ignore[reportArgumentType] -- taken as well

    assert first == ContentRef("8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4", 2, "text/plain")
    assert second == ContentRef(first.hash, 2, "application/octet-stream")
    assert store.get(second) == b"hi"


def test_the_store_takes_bytes_only_and_says_what_it_does_not_have():
    store = MemoryContentStore()

    with pytest.raises(TypeError, match="must be bytes, got str; encode text first"):
        store.put("text")  # pyright: ignore[reportArgumentType]
    with pytest.raises(KeyError, match="no content is stored under 'ab'"):
        store.get(ContentRef("ab", 1))


def test_pictures_and_resources_are_checked_when_made():
    with pytest.raises(TypeError, match=r"Image\(data\) must be bytes, got str"):
        Image("no")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="must look like 'image/png', got 'png'"):
        Image(b"x", "png")
    with pytest.raises(ValueError, match="both text and data"):
        Resource("a:b", text="x", data=b"y")
    with pytest.raises(ValueError, match="must not be empty"):
        Resource("")


def test_image_data_survives_the_way():
    data = bytes(range(256))
    (block,) = to_result(Image(data)).content

    assert isinstance(block, core.Image)
    assert b64decode(block.data) == data
