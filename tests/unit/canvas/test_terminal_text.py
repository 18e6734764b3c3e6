"""What a terminal prints, as text, in pieces and from any place on; no shell."""

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.canvas.terminal.marks import INTRO, Mark, MarkReader
from toolwire.canvas.terminal.tail import Tail
from toolwire.canvas.terminal.text import Kept, rendered

CONTROLS = b"\x1b [ ] ?1049 h l 2 ; J H A K P 999 C".split(b" ")
MARKS = [INTRO, b"\x1b", b"\x1b]", b"7770;", b"end;ab;1", b"ready;ab", b"\x07", b"text"]


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        (b"one\r\ntwo\r\n", "one\ntwo\n"),
        (b"\x1b[1;31mred\x1b[0m\r\n", "red\n"),
        (b"10%\r20%\r100%\r\n", "100%\n"),
        (b"long line\rshort\r\n", "shortline\n"),
        (b"long line\r\x1b[Kshort\r\n", "short\n"),
        (b"abc\b\bX\r\n", "aXc\n"),
        (b"a\tb\r\n", "a\tb\n"),
        (b"\x1b[0ma\tb\r\n", "a       b\n"),
        (b"one\r\ntwo\r\n\x1b[2A\r\x1b[2KONE\x1b[2B\r\n", "ONE\ntwo\n\n"),
        (b"\x1b]0;a title\x07x\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\\r\n", "xlink\n"),
        (b"\x1b]never ended", "never ended"),
        (b"before\r\n\x1b[?1049h\x1b[H\x1b[2Jan editor\x1b[?1049lafter\r\n", "before\nafter\n"),
        (b"old\r\n\x1b[2J\x1b[Hnew\r\n", "old\n\nnew\n"),
        (b"caf\xc3\xa9 \xff\r\n", "café �\n"),
        (b"\x1b[99999999999999Cx\x1b[;;;Hy", None),
        (b"\x1b[500;500Hfar\x1b[31", None),
        (b"bell\x07 null\x00\x1b", "bell null"),
    ],
)
def test_printed_bytes_become_the_text_that_is_left(printed: bytes, text: str | None) -> None:
    shown = rendered(printed)
    assert text is None or shown == text
    assert "\x1b" not in shown


@given(
    st.lists(
        st.sampled_from([b"\x1b", b"[", b"]", b"?1049", b"h", b"l", b"2", b";", b"J", b"H", b"A", b"K", b"P"])
        | st.binary(max_size=4)
    )
)
def test_no_bytes_break_the_text(pieces: list[bytes]) -> None:
    shown = rendered(b"".join(pieces))
    assert "\x1b" not in shown
    assert len(shown) < 100_000


GROWING = (b"\x1b[999;999Hx", b"\x1b[999Cx\r\n", b"\x1b[999Gx\r\n", b"\x1b[?1049h\x1b[2Jx", b"\x1b[mx", b"\x1b[mx\n")


@pytest.mark.parametrize("piece", GROWING)
def test_the_text_does_not_grow_beyond_what_was_printed_by_much(piece: bytes) -> None:
    assert len(rendered(piece * (200_000 // len(piece)))) < 25_000_000


@given(st.lists(st.binary(max_size=20)), st.integers(2, 20))
def test_the_beginning_and_the_end_are_kept(pieces: list[bytes], limit: int) -> None:
    kept, printed = Kept(limit), b"".join(pieces)
    for piece in pieces:
        kept.append(piece)
    text = kept.text()
    if len(printed) <= 2 * (limit // 2):
        assert text == rendered(printed)
    else:
        assert kept.left_out == len(printed) - 2 * (limit // 2)
        assert f"… {kept.left_out} bytes of output were left out here …" in text


@given(
    st.lists(st.sampled_from([INTRO, b"\x1b", b"\x1b]", b"7770;", b"end;ab;1", b"ready;ab", b"\x07", b"text"])),
    st.data(),
)
def test_marks_are_found_however_the_bytes_come(pieces: list[bytes], data: st.DataObject) -> None:
    printed = b"".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(printed)), max_size=5)))
    at_once = joined([*MarkReader().feed(printed)])
    reader, found = MarkReader(), list[bytes | Mark]()
    for start, end in zip([0, *cuts], [*cuts, len(printed)], strict=True):
        found += reader.feed(printed[start:end])
    whole = MarkReader()
    list(whole.feed(printed))
    assert joined(found) == at_once
    assert reader.rest() == whole.rest()
    everything = b"".join(piece if isinstance(piece, bytes) else piece.raw for piece in found)
    assert printed.startswith(everything)


def joined(found: list[bytes | Mark]) -> list[bytes | Mark]:
    """With pieces of output that follow each other as one."""
    whole: list[bytes | Mark] = []
    for piece in found:
        last = whole[-1] if whole else None
        if isinstance(piece, bytes) and isinstance(last, bytes):
            whole[-1] = last + piece
        else:
            whole.append(piece)
    return whole


def test_a_mark_says_what_it_is() -> None:
    found = list(MarkReader().feed(b"a\x1b]7770;end;0f;130\x07b\x1b]7770;other;0f\x07c"))
    assert found[0] == b"a"
    assert isinstance(found[1], Mark)
    assert (found[1].kind, found[1].secret, found[1].status) == ("end", "0f", 130)
    assert joined(found)[2:] == [b"b\x1b]7770;other;0f\x07c"]


async def test_a_reader_gets_what_is_kept_and_all_that_comes() -> None:
    tail = Tail(kept=10)
    tail.append(b"0123456789abcdef")
    reader = tail.follow()
    with anyio.fail_after(5):
        assert await reader.next() == (b"6789abcdef", False)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.lowlevel.checkpoint)
            tail.append(b"new")
        assert await reader.next() == (b"new", False)
        tail.append(b"x" * 1000)
        piece = await reader.next()
        assert piece is not None
        assert piece.missed
        tail.close()
        assert await reader.next() is None
