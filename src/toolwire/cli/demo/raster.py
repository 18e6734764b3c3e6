"""A picture in memory: boxes, rounded boxes, discs and text on true-colour pixels, edges smoothed.

It draws what it is told where it is told; layout is `screenshot`'s and the file format is `png`'s.
"""

from typing import Final

from toolwire.cli.demo.font import fit, mask, measure
from toolwire.cli.demo.png import encode

Colour = tuple[int, int, int]
"""Red, green and blue, each 0 to 255."""

_SAMPLES: Final = 4


def colour(code: str) -> Colour:
    """The colour of an HTML code such as "#1f2a44"."""
    red, green, blue = bytes.fromhex(code.removeprefix("#"))
    return red, green, blue


class Picture:
    """`width` x `height` pixels of one colour to begin with; (0, 0) is the top left; drawing outside is cut off."""

    def __init__(self, width: int, height: int, paper: Colour) -> None:
        self.width = width
        self.height = height
        self._pixels = bytearray(bytes(paper) * (width * height))

    def png(self) -> bytes:
        """The picture as a PNG file."""
        return encode(self.width, self.height, self._pixels)

    def box(self, x: int, y: int, width: int, height: int, ink: Colour) -> None:
        """Fills a rectangle."""
        left, right = max(x, 0), min(x + width, self.width)
        if left >= right:
            return
        row = bytes(ink) * (right - left)
        for line in range(max(y, 0), min(y + height, self.height)):
            start = 3 * (line * self.width + left)
            self._pixels[start : start + len(row)] = row

    def rounded(self, x: int, y: int, width: int, height: int, radius: int, ink: Colour) -> None:
        """Fills a rectangle with round corners; `radius` is cut to half the smaller side."""
        radius = min(radius, width // 2, height // 2)
        self.box(x + radius, y, width - 2 * radius, height, ink)
        self.box(x, y + radius, radius, height - 2 * radius, ink)
        self.box(x + width - radius, y + radius, radius, height - 2 * radius, ink)
        for row in range(radius):
            for column in range(radius):
                cover = _corner_cover(radius, column, row)
                for px in (x + column, x + width - 1 - column):
                    for py in (y + row, y + height - 1 - row):
                        self._blend(px, py, ink, cover)

    def disc(self, x: int, y: int, radius: int, ink: Colour) -> None:
        """Fills a circle around the point (x, y)."""
        self.rounded(x - radius, y - radius, 2 * radius, 2 * radius, radius, ink)

    def text(self, x: int, y: int, text: str, size: int, ink: Colour, max_px: int | None = None) -> int:
        """Writes one line with its top left at (x, y).

        Args:
            x: Left edge.
            y: Top of the capitals.
            text: Characters beyond ASCII come out as question marks.
            size: Pixels a dot; capitals are seven dots high.
            ink: Colour of the letters.
            max_px: Where to cut with an ellipsis; None for no cut.

        Returns:
            The x just behind the last letter.
        """
        shown = text if max_px is None else fit(text, size, max_px)
        pen = x
        for char in shown:
            letter = mask(char, size)
            for down, row in enumerate(letter.rows):
                for right, cover in enumerate(row):
                    if cover:
                        self._blend(pen + right, y + down, ink, cover)
            pen += letter.width + size
        return pen - size if shown else x

    def text_right(self, right: int, y: int, text: str, size: int, ink: Colour) -> None:
        """Writes one line that ends at `right`."""
        self.text(right - measure(text, size), y, text, size, ink)

    def _blend(self, x: int, y: int, ink: Colour, cover: int) -> None:
        if not (0 <= x < self.width and 0 <= y < self.height):
            return
        start = 3 * (y * self.width + x)
        for offset, value in enumerate(ink, start):
            below = self._pixels[offset]
            self._pixels[offset] = below + (value - below) * cover // 255


def _corner_cover(radius: int, column: int, row: int) -> int:
    """How much (0 to 255) of a pixel of the top left corner lies inside the arc."""
    inside = 0
    for step in range(_SAMPLES * _SAMPLES):
        dx = radius - column - (step % _SAMPLES + 0.5) / _SAMPLES
        dy = radius - row - (step // _SAMPLES + 0.5) / _SAMPLES
        inside += dx * dx + dy * dy <= radius * radius
    return round(255 * inside / _SAMPLES**2)
