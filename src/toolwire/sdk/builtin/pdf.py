"""The pages of a PDF as pictures with their text, through the optional package pypdfium2; it reads no files."""

import re
import struct
import threading
import zlib
from importlib import import_module
from typing import Any, NamedTuple

MAX_PAGES = 20
"""Pages of one answer."""

MAX_UNASKED = 10
"""Pages of a document that is shown without `pages` being given."""

PICTURE_WIDTH = 1000
MAX_PIXELS = 4_000_000
_RANGE = re.compile(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?\Z")
_ONE_AT_A_TIME = threading.Lock()
"""PDFium may be used by one thread only."""


class UnreadablePdf(ValueError):
    """The document or the choice of pages cannot be shown; the text says what to do."""


class Page(NamedTuple):
    """A page: its number (1 is the first), how many there are, its text and its picture as PNG."""

    number: int
    total: int
    text: str
    picture: bytes


def read_pdf(body: bytes, pages: str | None) -> list[Page]:
    """The chosen pages of a document.

    Args:
        body: the file.
        pages: "3" or "1-5"; all of a short document when it is `None`.

    Raises:
        UnreadablePdf: the package is missing, the document is broken or encrypted, or the pages are not there.
    """
    try:
        library: Any = import_module("pypdfium2")  # an optional extra
    except ImportError:
        raise UnreadablePdf("PDFs need the package pypdfium2: pip install 'toolwire[pdf]', or use Bash") from None
    with _ONE_AT_A_TIME:
        try:
            document = library.PdfDocument(body)
        except library.PdfiumError as error:
            raise UnreadablePdf(f"the PDF cannot be opened: {error}") from None
        try:
            total = len(document)
            return [_page(document, number, total) for number in chosen(pages, total)]
        except library.PdfiumError as error:
            raise UnreadablePdf(f"the PDF is broken: {error}") from None
        finally:
            document.close()


def chosen(pages: str | None, total: int) -> range:
    """The numbers of the pages that `pages` means in a document of `total` pages.

    Raises:
        UnreadablePdf: they are none, too many or not there.
    """
    if pages is None:
        if total > MAX_UNASKED:
            raise UnreadablePdf(f"the PDF has {total} pages; give pages, such as '1-5', at most {MAX_PAGES} at once")
        return range(1, total + 1)
    found = _RANGE.match(pages)
    if found is None:
        raise UnreadablePdf(f"pages is {pages!r}; give a page such as '3' or a range such as '1-5'")
    first = int(found[1])
    last = int(found[2] or first)
    if not 1 <= first <= last <= total:
        raise UnreadablePdf(f"pages is {pages!r} and the PDF has pages 1-{total}")
    if last - first >= MAX_PAGES:
        raise UnreadablePdf(f"pages {pages!r} are more than {MAX_PAGES}; ask for fewer at once")
    return range(first, last + 1)


def _page(document: Any, number: int, total: int) -> Page:
    page = document[number - 1]
    try:
        width, height = page.get_size()
        scale = PICTURE_WIDTH / max(width, 1)
        scale = min(scale, (MAX_PIXELS / max(width * height, 1)) ** 0.5)
        bitmap = page.render(scale=scale, rev_byteorder=True, force_bitmap_format=_RGB)
        try:
            picture = png(bytes(bitmap.buffer), bitmap.width, bitmap.height, bitmap.stride)
        finally:
            bitmap.close()
        text_page = page.get_textpage()
        try:
            text: str = text_page.get_text_bounded()
        finally:
            text_page.close()
        return Page(number, total, text.replace("\r\n", "\n"), picture)
    finally:
        page.close()


_RGB = 2
"""PDFium's number for three bytes a pixel."""


def png(pixels: bytes, width: int, height: int, stride: int) -> bytes:
    """A PNG of RGB `pixels`, whose lines are `stride` bytes apart."""
    rows = b"".join(b"\0" + pixels[at * stride : at * stride + width * 3] for at in range(height))
    heading = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (_chunk(b"IHDR", heading), _chunk(b"IDAT", zlib.compress(rows, 6)), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
