"""The demo's status page: a PNG any decoder accepts, and a picture that shows what it should (gateway.md 13)."""

import struct
import zlib
from typing import NamedTuple

import msgspec
import pytest

from toolwire.cli.demo.font import HEIGHT as FONT_HEIGHT
from toolwire.cli.demo.font import fit, mask, measure
from toolwire.cli.demo.png import SIGNATURE, encode
from toolwire.cli.demo.raster import Picture, colour
from toolwire.cli.demo.screenshot import HEIGHT, WIDTH, draw
from toolwire.cli.demo.status import CHART_MINUTES, RECENT_CALLS, Activity, EndedCall, Status

NOW = 1_780_000_000.0
STATUS = Status(
    name="demo",
    version="0.1.0",
    agent_id="agent_demo",
    gateway_url="http://127.0.0.1:8094/agent_demo/mcp",
    now=NOW,
    started_at=NOW - 4_000,
)
PAPER = colour("#f2f4f8")
BAR = colour("#3f7be0")
GOOD = colour("#2f9e5f")
BAD = colour("#d0473f")


class Image(NamedTuple):
    width: int
    height: int
    rows: list[bytes]

    def at(self, x: int, y: int) -> tuple[int, int, int]:
        red, green, blue = self.rows[y][3 * x : 3 * x + 3]
        return red, green, blue

    def count(self, ink: tuple[int, int, int]) -> int:
        return sum(self.at(x, y) == ink for y in range(self.height) for x in range(self.width))


def decode(png: bytes) -> Image:
    """An independent reader of what `encode` may write: signature, chunks with checksums, inflate, filters 0 and 2."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    chunks: list[tuple[bytes, bytes]] = []
    at = 8
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack_from(">I", png, at + 8 + length)
        assert checksum == zlib.crc32(kind + body)
        chunks.append((kind, body))
        at += 12 + length
    assert at == len(png)
    assert [kind for kind, _ in chunks] == [b"IHDR", b"IDAT", b"IEND"]
    width, height, *kind = struct.unpack(">IIBBBBB", chunks[0][1])
    assert kind == [8, 2, 0, 0, 0]
    assert chunks[2][1] == b""
    raw, stride = zlib.decompress(chunks[1][1]), 3 * width
    assert len(raw) == height * (stride + 1)
    rows: list[bytes] = []
    above = bytes(stride)
    for start in range(0, len(raw), stride + 1):
        kind_of_filter, line = raw[start], raw[start + 1 : start + 1 + stride]
        assert kind_of_filter in (0, 2)
        above = bytes((here + up) % 256 for here, up in zip(line, above, strict=True)) if kind_of_filter else line
        rows.append(above)
    return Image(width, height, rows)


def with_calls(*ended: EndedCall) -> Status:
    activity = Activity()
    for call in ended:
        activity.record(call)
    return activity.status(STATUS)


def test_the_page_is_a_valid_png_of_its_size():
    image = decode(draw(STATUS))
    assert (image.width, image.height) == (WIDTH, HEIGHT)
    assert image.at(0, HEIGHT - 1) == PAPER


def test_every_pixel_comes_back_as_it_was_given():
    pixels = bytes(range(3 * 5 * 7))
    image = decode(encode(5, 7, pixels))
    assert b"".join(image.rows) == pixels


@pytest.mark.parametrize("width, height, size", [(0, 1, 0), (1, 0, 0), (2, 2, 11), (2, 2, 13)])
def test_sizes_that_do_not_fit_together_are_refused(width: int, height: int, size: int):
    with pytest.raises(ValueError, match="3 \\* width \\* height"):
        encode(width, height, bytes(size))
    assert encode(1, 1, bytes(3)).startswith(SIGNATURE)


def test_the_same_status_gives_the_same_picture_and_another_status_another():
    busy = with_calls(EndedCall("web_search", NOW - 5, 0.01))
    pictures = {draw(STATUS), draw(STATUS), draw(busy), draw(msgspec.structs.replace(STATUS, name="other"))}
    assert len(pictures) == 3


def test_failed_calls_are_marked_red_and_others_green():
    quiet = decode(draw(STATUS))
    assert quiet.count(GOOD) == quiet.count(BAD) == 0
    mixed = decode(draw(with_calls(EndedCall("summarize", NOW, 2, ok=False), EndedCall("screenshot", NOW, 0.1))))
    assert mixed.count(GOOD) > 50
    assert mixed.count(BAD) > 50


def test_a_minute_with_more_calls_has_a_taller_bar():
    calls = [EndedCall("web_search", NOW - 120, 0.01)] * 2 + [EndedCall("web_search", NOW - 600, 0.01)] * 9
    image = decode(draw(with_calls(*calls)))
    heights = {sum(image.at(x, y) == BAR for y in range(250, HEIGHT)) for x in range(90, 460)}
    low, high = sorted(heights - {0})[0], max(heights)
    assert 4 < high / low < 5


def test_long_strings_stay_inside_the_margins():
    long = Status(
        name="an agent with a name " * 20,
        version="1.2.3+" + "abcdef" * 20,
        agent_id="agent_" + "w" * 300,
        gateway_url="https://gateway.example.com/" + "long/" * 100,
        now=NOW,
        started_at=0,
        answered=10**15,
        failed=10**15,
        per_minute=(10**9,) * CHART_MINUTES,
        recent=(EndedCall("tool_" * 50, NOW, 10**7),) * RECENT_CALLS,
    )
    image = decode(draw(long))
    for y in range(HEIGHT):
        edges = [image.at(x, y) for x in (*range(31), *range(WIDTH - 31, WIDTH))]
        assert len(set(edges)) == 1, f"ink in the margin at row {y}"


def test_characters_beyond_ascii_are_drawn_as_question_marks():
    assert mask("é", 2) == mask("?", 2) == mask("研", 2) != mask("e", 2)
    plain, exotic = (msgspec.structs.replace(STATUS, name=name) for name in ("???", "研é😀"))
    assert draw(plain) == draw(exotic)


def test_each_printable_character_has_a_letter_of_its_own():
    letters = {mask(chr(code), 1) for code in range(0x20, 0x7F)}
    assert len(letters) == 95
    for size in (1, 2, 3, 4):
        for code in range(0x20, 0x7F):
            letter = mask(chr(code), size)
            assert len(letter.rows) == FONT_HEIGHT * size
            assert {len(row) for row in letter.rows} == {letter.width}
            assert any(map(any, letter.rows)) == (code != 0x20)


def test_digits_have_one_width_so_that_numbers_align():
    assert len({measure(digit, 2) for digit in "0123456789"}) == 1


def test_a_text_that_does_not_fit_ends_in_an_ellipsis():
    assert fit("short", 2, 200) == "short"
    cut = fit("a rather long line of text", 2, 120)
    assert cut.endswith("…")
    assert "a rather long line of text".startswith(cut[:-1])
    assert measure(cut, 2) <= 120
    assert fit("", 2, 0) == ""


def test_drawing_outside_of_the_picture_is_cut_off():
    picture = Picture(10, 10, PAPER)
    picture.box(-5, -5, 8, 8, BAR)
    picture.box(20, 0, 5, 5, BAR)
    picture.disc(10, 10, 4, BAR)
    picture.text(6, 6, "W", 2, BAD)
    image = decode(picture.png())
    assert image.at(0, 0) == image.at(2, 2) == BAR
    assert image.at(3, 3) == PAPER


def test_activity_counts_calls_by_minute_and_remembers_the_last():
    calls = [EndedCall(f"tool_{number}", NOW - 60 * number, 0.5, ok=number != 3) for number in range(20)]
    status = with_calls(*reversed(calls))
    assert (status.answered, status.failed) == (20, 1)
    assert status.per_minute == (0,) * (CHART_MINUTES - 20) + (1,) * 20
    assert [call.tool for call in status.recent] == [f"tool_{number}" for number in range(RECENT_CALLS)]


def test_activity_forgets_minutes_that_left_the_chart():
    activity = Activity()
    activity.record(EndedCall("old", NOW - 60 * CHART_MINUTES, 0.1))
    activity.record(EndedCall("new", NOW, 0.1))
    assert sum(activity.status(STATUS).per_minute) == 1
    later = msgspec.structs.replace(STATUS, now=NOW + 3600)
    assert sum(activity.status(later).per_minute) == 0
    assert activity.status(later).answered == 2
