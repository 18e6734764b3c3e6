"""A remote result reaches the model and the record whole (sdk.md 55 and §3, 13)."""

from base64 import b64encode
from typing import Any

import msgspec
import pytest

from toolwire.core.result import Audio, Embedded, Image, Link, ResourceContents, Result, Text, failed
from toolwire.sdk.content import MemoryContentStore
from toolwire.sdk.remote.result import tool_result

STORE = MemoryContentStore()


@pytest.mark.parametrize(
    ("texts", "structured", "output"),
    [
        ([], msgspec.UNSET, ""),
        (["hello"], msgspec.UNSET, "hello"),
        (["a", "b"], msgspec.UNSET, "a\nb"),
        ([], {"n": 1}, {"n": 1}),
        (['{"n": 1}'], {"n": 1}, {"n": 1}),
        (["hello"], {"result": "hello"}, "hello"),
        (["1", "2"], {"result": [1, 2]}, [1, 2]),
        (["3"], 3, 3),
        (["one"], {"n": 1}, {"text": "one", "structured_content": {"n": 1}}),
        (["1"], True, {"text": "1", "structured_content": True}),
        (["{"], {"n": 1}, {"text": "{", "structured_content": {"n": 1}}),
        (["null"], None, None),
    ],
)
def test_text_and_structured_content_are_both_kept_unless_they_say_the_same(
    texts: list[str], structured: Any, output: Any
):
    result = tool_result(Result(tuple(map(Text, texts)), structured), STORE)

    assert (result.success, result.output) == (True, output)


def test_pictures_sounds_and_resources_are_stored_and_told_of():
    data = b64encode(b"bytes").decode()
    content = (
        Text("words"),
        Image(data=data, mime_type="image/png"),
        Audio(data=data, mime_type="audio/wav"),
        Embedded(resource=ResourceContents("file:///a.txt", text="A")),
        Embedded(resource=ResourceContents("file:///b.bin", blob=data)),
        Embedded(resource=ResourceContents("file:///c.png", "image/png", blob=data)),
        Link(uri="file:///d", name="d"),
    )

    result = tool_result(Result(content), STORE)

    assert [ref.media_type for ref in result.images] == ["image/png", "image/png"]
    assert [ref.media_type for ref in result.artifacts] == ["audio/wav", "application/octet-stream"]
    assert all(STORE.get(ref) == b"bytes" for ref in (*result.images, *result.artifacts))
    lines = result.output.splitlines()
    assert lines[0] == "words"
    assert lines[1].startswith("[a sound: audio/wav, 5 bytes, kept as sha256 ")
    assert lines[2:4] == ["file:///a.txt:", "A"]
    assert lines[6] == '{"type":"resource_link","uri":"file:///d","name":"d"}'


def test_a_picture_that_is_none_does_not_break_the_result():
    result = tool_result(Result((Image(data="?!", mime_type="image/png"), Text("and words"))), STORE)

    assert (result.success, result.images) == (True, [])
    assert result.output == "[an image (image/png) came in no readable form]\nand words"


def test_a_failure_has_the_servers_words_and_no_output_that_repeats_them():
    result = tool_result(failed("the disk is full"), STORE)

    assert (result.success, result.summary, result.output) == (False, "the disk is full", None)


def test_a_long_failure_is_whole_in_the_output():
    result = tool_result(failed("x" * 5000), STORE)

    assert (result.success, result.output) == (False, "x" * 5000)


def test_a_failure_keeps_its_structured_content():
    failure = msgspec.structs.replace(failed("no"), structured={"code": 7})

    assert tool_result(failure, STORE).output == {"text": "no", "structured_content": {"code": 7}}
