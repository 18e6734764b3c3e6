"""`Read` against real files of every kind (sdk.md 1.12)."""

import base64
import json
import os
import zlib
from pathlib import Path

import pytest

from tests.unit.sdk.builtin.desk import Desk
from toolwire.sdk.builtin.pdf import UnreadablePdf, chosen, png
from toolwire.sdk.builtin.textfile import MAX_TOKENS

PNG = png(b"\xff\x00\x00" * 4, 2, 2, 6)


async def test_lines_are_numbered_as_cat_does(desk: Desk):
    desk.put("x.txt", "a\nb\nc\n")

    assert await desk.good("Read", file_path="x.txt") == "     1\ta\n     2\tb\n     3\tc"


async def test_a_window_says_where_to_go_on(desk: Desk):
    desk.put("x.txt", "a\nb\nc")

    shown = await desk.good("Read", file_path="x.txt", offset=2, limit=1)

    assert shown == "     2\tb\n\n(Showing lines 2-2 of 3 total lines. Use offset=3 to go on.)"
    assert "Use offset" not in await desk.good("Read", file_path="x.txt", offset=3)


async def test_at_most_2000_lines_come_unless_more_are_asked_for(desk: Desk):
    desk.put("x.txt", "l\n" * 2500)

    assert (await desk.good("Read", file_path="x.txt")).endswith(
        "(Showing lines 1-2000 of 2500 total lines. Use offset=2001 to go on.)"
    )
    assert (await desk.good("Read", file_path="x.txt", limit=2500)).count("\tl") == 2500


async def test_no_more_comes_than_a_model_takes_at_once(desk: Desk):
    desk.put("x.txt", ("x" * 1000 + "\n") * 500)

    shown = await desk.good("Read", file_path="x.txt")

    assert len(shown) < 4.2 * MAX_TOKENS
    assert "Use offset=" in shown


async def test_a_long_line_is_cut_and_says_so(desk: Desk):
    desk.put("x.js", "y" * 5000)

    assert (await desk.good("Read", file_path="x.js")).endswith("… [3000 more characters]")


async def test_the_middle_of_a_huge_file_is_shown_without_taking_all_of_it(desk: Desk):
    desk.put("x.log", b"line of text\n" * 1_500_000 + b"last")

    assert await desk.good("Read", file_path="x.log", offset=1_500_001) == (
        "1500001\tlast\n\n(Showing lines 1500001-1500001 of 1500001 total lines.)"
    )


async def test_any_file_of_the_machine_may_be_read(desk: Desk, tmp_path: Path):
    outside = tmp_path / "outside.txt"
    outside.write_text("here")

    assert await desk.good("Read", file_path=str(outside)) == "     1\there"
    assert await desk.good("Read", file_path="../outside.txt") == "     1\there"


async def test_empty_files_and_offsets_past_the_end_are_told_apart(desk: Desk):
    desk.put("empty", "")
    desk.put("two", "a\nb\n")

    assert await desk.good("Read", file_path="empty") == "(empty is empty)"
    assert await desk.bad("Read", file_path="two", offset=9) == (
        "Read: line 9 is past the end: 'two' has 2 lines; use a smaller offset"
    )


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"\xef\xbb\xbfmark", "mark"),
        ("wide".encode("utf-16"), "wide"),
        (b"a\r\nb\r\n", "a\n     2\tb"),
    ],
)
async def test_marks_wide_characters_and_windows_lines_are_understood(desk: Desk, body: bytes, text: str):
    desk.put("x.txt", body)

    assert await desk.good("Read", file_path="x.txt") == f"     1\t{text}"


async def test_a_file_in_another_encoding_is_shown_with_a_note(desk: Desk):
    desk.put("x.txt", b"caf\xe9")

    assert "caf\ufffd\n\n(The file is not valid text" in await desk.good("Read", file_path="x.txt")


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("nope", "Read: no such file: 'nope'; find it with Glob or Grep"),
        (".", "Read: '.' is a directory; list it with Glob"),
        ("", "Read: the path is empty"),
        ("a\0b", "has a NUL character in it"),
        ("a\udc00\ud800", "characters that no file name can have"),
        ("/dev/zero", "is not a regular file"),
        ("pipe", "is not a regular file"),
        ("loop", "is a symbolic link that leads to itself"),
        ("binary", "is a binary file"),
        ("file/below", "Read: 'file/below': Not a directory"),
        ("n" * 300, "File name too long"),
    ],
)
async def test_what_cannot_be_read_is_told_in_words(desk: Desk, path: str, told: str):
    os.mkfifo(desk.root / "pipe")
    (desk.root / "loop").symlink_to("loop")
    desk.put("binary", b"\x7fELF\0\0")
    desk.put("file", "x")

    assert told in await desk.bad("Read", file_path=path)


async def test_a_picture_comes_as_a_picture(desk: Desk):
    desk.put("x.png", PNG)

    result = await desk.call("Read", {"file_path": "x.png"})

    assert result.output == f"x.png: a picture, image/png, {len(PNG)} bytes"
    assert [desk.store.get(ref) for ref in result.images] == [PNG]
    assert result.images[0].media_type == "image/png"


async def test_a_picture_that_no_model_takes_is_refused(desk: Desk):
    desk.put("x.jpg", b"\xff\xd8\xff" + bytes(6 * 1024 * 1024))

    assert "larger than 5 MiB" in await desk.bad("Read", file_path="x.jpg")


async def test_a_notebook_comes_as_its_cells_with_what_they_printed(desk: Desk):
    outputs = [
        {"output_type": "stream", "text": ["1\n", "2\n"]},
        {"output_type": "display_data", "data": {"image/png": base64.b64encode(PNG).decode(), "text/plain": "<fig>"}},
        {"output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": ["at line 1"]},
    ]
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        {"cell_type": "code", "source": "print(1)", "outputs": outputs},
    ]
    desk.put("x.ipynb", json.dumps({"cells": cells}))

    result = await desk.call("Read", {"file_path": "x.ipynb"})

    assert result.output == (
        "--- cell 1 (markdown) ---\n# Title\ntext\n\n--- cell 2 (code) ---\nprint(1)\n[output]\n1\n2\n\n"
        "[output]\n<fig>\n[picture 1, image/png]\n[error] ValueError: bad\nat line 1"
    )
    assert [desk.store.get(ref) for ref in result.images] == [PNG]


@pytest.mark.parametrize("body", ["{", "[]", '{"cells": 1}', '{"cells": [1]}', "[" * 100_000])
async def test_a_file_that_is_no_notebook_is_told(desk: Desk, body: str):
    desk.put("x.ipynb", body)

    assert "is not a Jupyter notebook" in await desk.bad("Read", file_path="x.ipynb")


async def test_the_pages_of_a_pdf_come_as_pictures_with_their_text(desk: Desk):
    desk.put("x.pdf", pdf(["First page", "Second page", "Third page"]))

    result = await desk.call("Read", {"file_path": "x.pdf", "pages": "2-3"})

    assert result.output == "--- page 2 of 3 ---\nSecond page\n\n--- page 3 of 3 ---\nThird page"
    assert [desk.store.get(ref)[:8] for ref in result.images] == [b"\x89PNG\r\n\x1a\n"] * 2


async def test_a_long_pdf_needs_a_choice_and_a_broken_one_is_told(desk: Desk):
    desk.put("long.pdf", pdf([str(number) for number in range(11)]))
    desk.put("broken.pdf", b"%PDF-1.4\nnothing")

    assert "has 11 pages; give pages" in await desk.bad("Read", file_path="long.pdf")
    assert "cannot be opened" in await desk.bad("Read", file_path="broken.pdf")
    assert "has pages 1-11" in await desk.bad("Read", file_path="long.pdf", pages="12")


@pytest.mark.parametrize("pages", ["x", "0", "5-3", "1-21", "1,2", "-1", "9" * 5000])
def test_pages_that_are_none_are_refused(pages: str):
    with pytest.raises(UnreadablePdf):
        chosen(pages, 100)


def test_a_png_is_made_of_the_pixels():
    at = PNG.index(b"IDAT")
    size = int.from_bytes(PNG[at - 4 : at], "big")

    assert zlib.decompress(PNG[at + 4 : at + 4 + size]) == (b"\0" + b"\xff\0\0" * 2) * 2


def pdf(pages: list[str]) -> bytes:
    """A document with one line of text on each page."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        content = f"BT /F1 18 Tf 20 100 Td ({text}) Tj ET"
        resources = "/MediaBox [0 0 300 144] /Resources << /Font << /F1 3 0 R >> >>"
        objects += [
            f"<< /Type /Page /Parent 2 0 R {resources} /Contents {5 + 2 * number} 0 R >>",
            f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        ]
    body, offsets = b"%PDF-1.4\n", list[int]()
    for number, text in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{text}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF"
    return body + f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode()
