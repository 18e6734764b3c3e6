"""A small proportional bitmap font, drawn for this package, and its enlargement to smooth letters.

It covers ASCII and the ellipsis; it places no text on a picture (`raster` does) and knows no kerning.
"""

import math
from functools import cache
from typing import Final

import msgspec

ASCENT: Final = 7
"""Dots above the base line: the height of a capital."""

HEIGHT: Final = 9
"""Dots of a whole line: capitals and what hangs below the base line."""

_ELLIPSIS: Final = "\u2026"
_SPACE_WIDTH: Final = 3
_GAP: Final = 1
_SAMPLES: Final = 4
"""Each pixel of an enlarged letter is the mean of 4 x 4 samples."""

# Six bands of sixteen letters, five dots wide and nine high; the line above each band names them.
_BANDS: Final = r"""
        !     "     #     $     %     &     '     (     )     *     +     ,     -     .     /
..... ..#.. .#.#. .#.#. ..#.. ##..# .##.. ..#.. ...#. .#... ..... ..... ..... ..... ..... ....#
..... ..#.. .#.#. .#.#. .#### ##..# #..#. ..#.. ..#.. ..#.. ..#.. ..#.. ..... ..... ..... ....#
..... ..#.. .#.#. ##### #.#.. ...#. #.#.. ..#.. .#... ...#. #.#.# ..#.. ..... ..... ..... ...#.
..... ..#.. ..... .#.#. .###. ..#.. .#... ..... .#... ...#. .###. ##### ..... .###. ..... ..#..
..... ..#.. ..... ##### ..#.# .#... #.#.# ..... .#... ...#. #.#.# ..#.. ..... ..... ..... .#...
..... ..... ..... .#.#. ####. #..## #..#. ..... ..#.. ..#.. ..#.. ..#.. .##.. ..... .##.. #....
..... ..#.. ..... .#.#. ..#.. #..## .##.# ..... ...#. .#... ..... ..... .##.. ..... .##.. #....
..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..#.. ..... ..... .....
..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .#... ..... ..... .....

  0     1     2     3     4     5     6     7     8     9     :     ;     <     =     >     ?
.###. ..#.. .###. .###. ...#. ##### ..##. ##### .###. .###. ..... ..... ....# ..... #.... .###.
#...# .##.. #...# #...# ..##. #.... .#... ....# #...# #...# .##.. .##.. ...#. ..... .#... #...#
#..## ..#.. ....# ....# .#.#. ####. #.... ...#. #...# #...# .##.. .##.. ..#.. ##### ..#.. ....#
#.#.# ..#.. ...#. ..##. #..#. ....# ####. ..#.. .###. .#### ..... ..... .#... ..... ...#. ...#.
##..# ..#.. ..#.. ....# ##### ....# #...# ..#.. #...# ....# ..... ..... ..#.. ##### ..#.. ..#..
#...# ..#.. .#... #...# ...#. #...# #...# ..#.. #...# ...#. .##.. .##.. ...#. ..... .#... .....
.###. .###. ##### .###. ...#. .###. .###. ..#.. .###. .##.. .##.. .##.. ....# ..... #.... ..#..
..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..#.. ..... ..... ..... .....
..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .#... ..... ..... ..... .....

  @     A     B     C     D     E     F     G     H     I     J     K     L     M     N     O
.###. .###. ####. .###. ####. ##### ##### .###. #...# .###. ..### #...# #.... #...# #...# .###.
#...# #...# #...# #...# #...# #.... #.... #...# #...# ..#.. ...#. #..#. #.... ##.## ##..# #...#
#.### #...# #...# #.... #...# #.... #.... #.... #...# ..#.. ...#. #.#.. #.... #.#.# ##..# #...#
#.#.# ##### ####. #.... #...# ####. ####. #.### ##### ..#.. ...#. ##... #.... #.#.# #.#.# #...#
#.### #...# #...# #.... #...# #.... #.... #...# #...# ..#.. ...#. #.#.. #.... #...# #..## #...#
#.... #...# #...# #...# #...# #.... #.... #...# #...# ..#.. #..#. #..#. #.... #...# #..## #...#
.#### #...# ####. .###. ####. ##### #.... .#### #...# .###. .##.. #...# ##### #...# #...# .###.
..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....
..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....

  P     Q     R     S     T     U     V     W     X     Y     Z     [     \     ]     ^     _
####. .###. ####. .#### ##### #...# #...# #...# #...# #...# ##### .###. #.... .###. ..#.. .....
#...# #...# #...# #.... ..#.. #...# #...# #...# #...# #...# ....# .#... #.... ...#. .#.#. .....
#...# #...# #...# #.... ..#.. #...# #...# #...# .#.#. .#.#. ...#. .#... .#... ...#. #...# .....
####. #...# ####. .###. ..#.. #...# #...# #.#.# ..#.. ..#.. ..#.. .#... ..#.. ...#. ..... .....
#.... #.#.# #.#.. ....# ..#.. #...# .#.#. #.#.# .#.#. ..#.. .#... .#... ...#. ...#. ..... .....
#.... #..#. #..#. ....# ..#.. #...# .#.#. ##.## #...# ..#.. #.... .#... ....# ...#. ..... .....
#.... .##.# #...# ####. ..#.. .###. ..#.. #...# #...# ..#.. ##### .###. ....# .###. ..... .....
..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... #####
..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....

  `     a     b     c     d     e     f     g     h     i     j     k     l     m     n     o
.#... ..... #.... ..... ....# ..... ..##. ..... #.... ..#.. ...#. #.... .##.. ..... ..... .....
..#.. ..... #.... ..... ....# ..... .#... ..... #.... ..... ..... #.... ..#.. ..... ..... .....
..... .###. ####. .#### .#### .###. ####. .#### ####. .##.. ..##. #..#. ..#.. ####. ####. .###.
..... ....# #...# #.... #...# #...# .#... #...# #...# ..#.. ...#. #.#.. ..#.. #.#.# #...# #...#
..... .#### #...# #.... #...# ##### .#... #...# #...# ..#.. ...#. ##... ..#.. #.#.# #...# #...#
..... #...# #...# #.... #...# #.... .#... #...# #...# ..#.. ...#. #.#.. ..#.. #.#.# #...# #...#
..... .#### ####. .#### .#### .###. .#... .#### #...# .###. ...#. #..#. .###. #.#.# #...# .###.
..... ..... ..... ..... ..... ..... ..... ....# ..... ..... ...#. ..... ..... ..... ..... .....
..... ..... ..... ..... ..... ..... ..... .###. ..... ..... .##.. ..... ..... ..... ..... .....

  p     q     r     s     t     u     v     w     x     y     z     {     |     }     ~     …
..... ..... ..... ..... .#... ..... ..... ..... ..... ..... ..... ...## ..#.. ##... ..... .....
..... ..... ..... ..... .#... ..... ..... ..... ..... ..... ..... ..#.. ..#.. ..#.. ..... .....
####. .#### #.##. .#### ####. #...# #...# #...# #...# #...# ##### ..#.. ..#.. ..#.. .#..# .....
#...# #...# ##..# #.... .#... #...# #...# #...# .#.#. #...# ...#. .#... ..#.. ...#. #.#.# .....
#...# #...# #.... .###. .#... #...# .#.#. #.#.# ..#.. #...# ..#.. ..#.. ..#.. ..#.. #..#. .....
#...# #...# #.... ....# .#... #...# .#.#. #.#.# .#.#. #...# .#... ..#.. ..#.. ..#.. ..... .....
####. .#### #.... ####. ..##. .#### ..#.. .#.#. #...# .#### ##### ...## ..#.. ##... ..... #.#.#
#.... ....# ..... ..... ..... ..... ..... ..... ..... ....# ..... ..... ..#.. ..... ..... .....
#.... ....# ..... ..... ..... ..... ..... ..... ..... .###. ..... ..... ..... ..... ..... .....
"""


class Mask(msgspec.Struct, frozen=True):
    """An enlarged letter.

    Attributes:
        width: Its columns.
        rows: Its rows from the top; each holds `width` coverages from 0 (paper) to 255 (ink).
    """

    width: int
    rows: tuple[bytes, ...]


def mask(char: str, size: int) -> Mask:
    """The letter at `size` pixels a dot; what the font lacks looks like a question mark."""
    return _enlarged(char if char in _LETTERS else "?", size)


def measure(text: str, size: int) -> int:
    """The width of `text` in pixels at `size` pixels a dot."""
    if not text:
        return 0
    return sum(mask(char, size).width for char in text) + _GAP * size * (len(text) - 1)


def fit(text: str, size: int, max_px: int) -> str:
    """`text`, or as much of its beginning as fits into `max_px` pixels with an ellipsis behind it."""
    if measure(text, size) <= max_px:
        return text
    left, kept = max_px - measure(_ELLIPSIS, size), 0
    for char in text:
        left -= mask(char, size).width + _GAP * size
        if left < 0:
            break
        kept += 1
    return text[:kept].rstrip() + _ELLIPSIS


def _read(bands: str) -> dict[str, tuple[str, ...]]:
    names = [*map(chr, range(0x20, 0x7F)), _ELLIPSIS]
    lines = [line for line in bands.split("\n") if line and set(line) <= set("#. ")]
    letters: dict[str, tuple[str, ...]] = {}
    for start in range(0, len(lines), HEIGHT):
        columns = zip(*(line.split(" ") for line in lines[start : start + HEIGHT]), strict=True)
        for rows in columns:
            name = names[len(letters)]
            letters[name] = rows if name.isdigit() else _trimmed(rows)
    return letters


def _trimmed(rows: tuple[str, ...]) -> tuple[str, ...]:
    """Without the blank columns at both sides; digits keep theirs, so that numbers align."""
    inked = [column for column in range(len(rows[0])) if any(row[column] == "#" for row in rows)]
    if not inked:
        return tuple("." * _SPACE_WIDTH for _ in rows)
    return tuple(row[inked[0] : inked[-1] + 1] for row in rows)


_LETTERS: Final = _read(_BANDS)


@cache
def _enlarged(char: str, size: int) -> Mask:
    dots = [[dot == "#" for dot in row] for row in _LETTERS[char]]
    width, height = len(dots[0]) * size, len(dots) * size
    fine = dots if size == 1 else _doubled(_doubled(_doubled(dots)))
    scale = len(fine) / height

    def coverage(x: int, y: int) -> int:
        steps = [(step + 0.5) / _SAMPLES for step in range(_SAMPLES)]
        inked = sum(fine[math.floor((y + dy) * scale)][math.floor((x + dx) * scale)] for dy in steps for dx in steps)
        return round(255 * inked / _SAMPLES**2)

    return Mask(width, tuple(bytes(coverage(x, y) for x in range(width)) for y in range(height)))


def _doubled(dots: list[list[bool]]) -> list[list[bool]]:
    """Twice the size with stairs rounded: a quarter dot takes the colour of two equal neighbours at its corner."""
    height, width = len(dots), len(dots[0])

    def at(x: int, y: int) -> bool:
        return 0 <= x < width and 0 <= y < height and dots[y][x]

    grown: list[list[bool]] = []
    for y in range(height):
        upper: list[bool] = []
        lower: list[bool] = []
        for x in range(width):
            dot, up, down, left, right = at(x, y), at(x, y - 1), at(x, y + 1), at(x - 1, y), at(x + 1, y)
            plain = up == down or left == right
            upper += [dot if plain or left != up else up, dot if plain or right != up else up]
            lower += [dot if plain or left != down else down, dot if plain or right != down else down]
        grown += [upper, lower]
    return grown
