"""A Jupyter notebook as text and pictures: its cells with what they printed; it runs none of them."""

import base64
import binascii
import json
from typing import Any, NamedTuple, cast

MAX_CELL_CHARS = 10_000
"""Of one output, so much is shown."""

MAX_CHARS = 100_000
MAX_PICTURES = 20
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


class NotANotebook(ValueError):
    """The file is not what its name says; the text says why."""


class Notebook(NamedTuple):
    """The cells as text, and the pictures among their outputs with their media types, in order."""

    text: str
    pictures: list[tuple[bytes, str]]


def read_notebook(body: bytes) -> Notebook:
    """The cells of a notebook.

    Raises:
        NotANotebook: it is not JSON, or has no cells.
    """
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise NotANotebook(f"it is not JSON ({error})") from None
    cells: Any = cast("dict[str, Any]", document).get("cells") if isinstance(document, dict) else None
    if not isinstance(cells, list):
        raise NotANotebook("it has no list of cells")
    pictures: list[tuple[bytes, str]] = []
    parts = [_cell(number, cell, pictures) for number, cell in enumerate(cast("list[Any]", cells), 1)]
    text = "\n\n".join(parts) or "(a notebook without cells)"
    if len(text) > MAX_CHARS:
        text = f"{text[:MAX_CHARS]}\n… [{len(text) - MAX_CHARS} more characters; read with offset and limit to see all]"
    return Notebook(text, pictures)


def _cell(number: int, cell: Any, pictures: list[tuple[bytes, str]]) -> str:
    if not isinstance(cell, dict):
        raise NotANotebook(f"cell {number} is not an object")
    known = cast("dict[str, Any]", cell)
    lines = [f"--- cell {number} ({known.get('cell_type', 'unknown')}) ---", _joined(known.get("source"))]
    outputs = known.get("outputs")
    printed = cast("list[Any]", outputs) if isinstance(outputs, list) else []
    lines += [_output(cast("dict[str, Any]", output), pictures) for output in printed if isinstance(output, dict)]
    return "\n".join(line for line in lines if line)


def _output(output: dict[str, Any], pictures: list[tuple[bytes, str]]) -> str:
    if output.get("output_type") == "error":
        trace = _joined(output.get("traceback"), "\n")
        return _clipped(f"[error] {output.get('ename')}: {output.get('evalue')}\n{trace}".rstrip())
    data = output.get("data")
    shown = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    text = _joined(output.get("text")) or _joined(shown.get("text/plain"))
    lines = [f"[output]\n{_clipped(text)}"] if text else []
    for kind in PICTURES:
        picture = _picture(shown.get(kind))
        if picture is not None and len(pictures) < MAX_PICTURES:
            pictures.append((picture, kind))
            lines.append(f"[picture {len(pictures)}, {kind}]")
    return "\n".join(lines)


def _joined(value: Any, between: str = "") -> str:
    if isinstance(value, list):
        return between.join(part for part in cast("list[Any]", value) if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _picture(value: Any) -> bytes | None:
    try:
        return base64.b64decode("".join(_joined(value).split()), validate=True) or None
    except (binascii.Error, ValueError):
        return None


def _clipped(text: str) -> str:
    return text if len(text) <= MAX_CELL_CHARS else f"{text[:MAX_CELL_CHARS]}… [{len(text) - MAX_CELL_CHARS} more]"
