"""How a tool's answer is shown to a person."""

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from toolwire.cli.failure import Failed
from toolwire.cli.results import print_result

PICTURE = {"type": "image", "mimeType": "image/png", "data": b64encode(b"\x89PNG").decode()}
SOUND = {"type": "audio", "mimeType": "audio/wav", "data": b64encode(b"RIFF").decode()}
FILE = {"type": "resource", "resource": {"uri": "x:1", "blob": b64encode(b"\x00").decode()}}


@pytest.mark.parametrize(
    ("result", "printed"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b\n"}]}, "a\nb\n"),
        ({"content": [{"type": "resource", "resource": {"uri": "x:1", "text": "inside"}}]}, "inside\n"),
        ({"content": [{"type": "resource_link", "uri": "x:1", "name": "one"}]}, "x:1 (one)\n"),
        ({"content": [], "structuredContent": {"a": 1}}, '{\n  "a": 1\n}\n'),
        ({"content": [{"type": "text", "text": "a"}], "structuredContent": {"a": 1}}, "a\n"),
        ({"content": [{"type": "new"}]}, '{"type":"new"}\n'),
        ({"content": []}, ""),
    ],
)
def test_texts_go_to_stdout(result: dict[str, Any], printed: str, capsys: pytest.CaptureFixture[str]):
    print_result(result, None)
    assert capsys.readouterr() == (printed, "")


def test_what_is_no_text_is_announced_on_stderr(capsys: pytest.CaptureFixture[str]):
    print_result({"content": [{"type": "text", "text": "look"}, PICTURE, FILE]}, None)

    out, err = capsys.readouterr()
    assert out == "look\n"
    assert err.splitlines() == [
        "[image/png, 4 bytes; save it with --output FILE]",
        "[application/octet-stream, 1 bytes; save it with --output FILE]",
    ]


def test_what_is_no_text_is_saved_each_in_a_file_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    print_result({"content": [PICTURE, {"type": "text", "text": "and"}, SOUND]}, tmp_path / "a.bin")

    assert (tmp_path / "a.bin").read_bytes() == b"\x89PNG"
    assert (tmp_path / "a-2.bin").read_bytes() == b"RIFF"
    assert capsys.readouterr().out == "and\n"


def test_a_text_alone_is_saved_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    print_result({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, tmp_path / "a.txt")

    assert (tmp_path / "a.txt").read_text() == "a\nb"
    assert capsys.readouterr().out == ""


def test_beside_json_no_text_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    print_result({"content": [{"type": "text", "text": "a"}, PICTURE]}, tmp_path / "a.png", quiet=True)

    assert (tmp_path / "a.png").exists()
    assert capsys.readouterr().out == ""


def test_data_that_is_not_base64_and_a_file_that_cannot_be_written_are_told(tmp_path: Path):
    with pytest.raises(Failed, match="not base64"):
        print_result({"content": [{**PICTURE, "data": "ä"}]}, None)
    with pytest.raises(Failed, match=r"cannot write .*: Is a directory"):
        print_result({"content": [PICTURE]}, tmp_path)
