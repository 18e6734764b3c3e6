"""Writes true-colour pixels as a PNG file.

One colour type (RGB, eight bits), no transparency, no interlacing; it draws nothing.
Spec: PNG (third edition) 5.3 chunk layout, 9.2 filter types, 11.2 critical chunks.
"""

import struct
import zlib
from typing import Final

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_BITS: Final = 8
_TRUE_COLOUR: Final = 2
_FILTER_UP: Final = b"\x02"


def encode(width: int, height: int, pixels: bytes | bytearray) -> bytes:
    """The PNG file of a picture.

    Args:
        width: Pixels in a row, at least 1.
        height: Rows, at least 1.
        pixels: Red, green and blue of each pixel, row by row from the top left; 3 * width * height bytes.

    Raises:
        ValueError: The sizes do not fit together.
    """
    if width < 1 or height < 1 or len(pixels) != 3 * width * height:
        raise ValueError(f"{len(pixels)} bytes are no {width} x {height} picture; give 3 * width * height bytes")
    header = struct.pack(">IIBBBBB", width, height, _BITS, _TRUE_COLOUR, 0, 0, 0)
    data = zlib.compress(_filtered(3 * width, pixels), level=9)
    return SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def _filtered(stride: int, pixels: bytes | bytearray) -> bytes:
    """Each row as its difference to the row above: a drawing's rows repeat, so nearly all becomes zero."""
    above, rows = bytes(stride), bytearray()
    for start in range(0, len(pixels), stride):
        row = bytes(pixels[start : start + stride])
        rows += _FILTER_UP
        same = row == above  # the common case, and the fast one
        rows += bytes(stride) if same else bytes((here - up) & 0xFF for here, up in zip(row, above, strict=True))
        above = row
    return bytes(rows)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
