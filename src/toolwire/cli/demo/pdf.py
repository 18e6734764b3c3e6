"""Reads the text of a PDF file with pypdfium2 (the extra `pdf`); it draws nothing and reads no pictures.

PDFium takes one caller at a time, so a lock is around all of it.
"""

import re
import threading
from contextlib import closing
from typing import Any, Final

MAX_PDF_BYTES: Final = 20_000_000
MAX_PAGES: Final = 500

_pdfium: Final = threading.Lock()
_HYPHEN_AT_END: Final = re.compile("[\u0002\ufffe\u00ad]\\s*|(?<=[a-z])-\\s*\n\\s*(?=[a-z])")
_AROUND_LINE_END: Final = re.compile(r"[^\S\n]*\n[^\S\n]*")
_ONE_LINE_END: Final = re.compile(r"(?<!\n)\n(?!\n)")


def text_of(data: bytes, max_chars: int) -> str:
    """The text of all pages, lines joined into paragraphs.

    Args:
        data: the file.
        max_chars: what comes after so many characters is left out.

    Raises:
        ValueError: it is no PDF that can be read, has too many pages, or no text.
    """
    try:
        import pypdfium2  # pyright: ignore[reportMissingTypeStubs] -- it has none
    except ImportError:
        raise ValueError("PDF files cannot be read here; install toolwire with its extra: toolwire[pdf]") from None
    with _pdfium:
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            raise ValueError(f"this is no PDF file that can be read without a password: {error}") from None
        with closing(document):
            text = _joined_pages(document, max_chars)
    if not text:
        raise ValueError("the PDF file has no text; pages that are pictures cannot be read")
    return text


def _joined_pages(document: Any, max_chars: int) -> str:
    if len(document) > MAX_PAGES:
        raise ValueError(f"the PDF file has {len(document)} pages; send one of at most {MAX_PAGES}")
    pages: list[str] = []
    size = 0
    for page in document:
        with closing(page), closing(page.get_textpage()) as textpage:
            text = _paragraphs(textpage.get_text_bounded())
        pages.append(text)
        size += len(text)
        if size > max_chars:
            break
    return "\n\n".join(page for page in pages if page)[:max_chars].strip()


def _paragraphs(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    lines = _AROUND_LINE_END.sub("\n", _HYPHEN_AT_END.sub("", lines))
    return _ONE_LINE_END.sub(" ", lines).strip()
