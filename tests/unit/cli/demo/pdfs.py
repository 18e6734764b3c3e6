"""Small real PDF files, written by hand; nothing reads them here."""

PAGE_LINES = 40


def pdf_of(text: str) -> bytes:
    """A PDF file with this text, a line each 80 characters, in as many pages as it takes."""
    lines = _lines(text)
    pages = [lines[start : start + PAGE_LINES] for start in range(0, len(lines), PAGE_LINES)] or [[]]
    numbers = [4 + 2 * place for place in range(len(pages))]
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    }
    for number, page in zip(numbers, pages, strict=True):
        shown = " ".join(f"({_escaped(line)}) Tj T*" for line in page)
        stream = f"BT /F1 11 Tf 14 TL 50 780 Td {shown} ET".encode("latin-1")
        resources = "/Resources << /Font << /F1 3 0 R >> >>"
        objects[number] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] {resources} /Contents {number + 1} 0 R >>".encode()
        )
        objects[number + 1] = b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream)
    return _file(objects)


def _file(objects: dict[int, bytes]) -> bytes:
    written = b"%PDF-1.4\n"
    offsets: list[int] = []
    for number in sorted(objects):
        offsets.append(len(written))
        written += b"%d 0 obj\n%b\nendobj\n" % (number, objects[number])
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    count = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (count, len(written))
    return written + b"xref\n0 %d\n0000000000 65535 f \n%b" % (count, table) + trailer


def _lines(text: str) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        if lines and len(lines[-1]) + len(word) < 80:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _escaped(line: str) -> str:
    return line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
