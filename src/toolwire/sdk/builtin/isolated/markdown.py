"""A web page as Markdown, for a model to read; it fetches nothing.

It keeps what carries meaning in text: headings, paragraphs, lists, links, emphasis, code, quotations, tables. Scripts,
styles and pictures without a description are left out, and so is what the page itself hides.
"""

import re
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urljoin

_SKIPPED = frozenset(
    {"script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "select", "button", "dialog"}
)
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
)
_BLOCKS = frozenset(
    "address article aside body dd details div dl dt fieldset figcaption figure footer form header hgroup html legend "
    "main nav p section summary".split()
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_TABULAR = frozenset({"table", "tr", "td", "th"})
_CODE = frozenset({"code", "kbd", "samp", "tt"})
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~"}
_SPACES = re.compile(r"[ \t\r\n\f\v]+")
_LANGUAGE = re.compile(r"(?:language|lang|highlight-source)-([\w+#-]+)")
_MANY_LINES = re.compile(r"\n{3,}")
_FENCE = "```"


class _List(NamedTuple):
    ordered: bool
    numbers: list[int]


class _Stop(Exception):
    """Enough has been converted."""


def to_markdown(html: str, base: str, max_chars: int) -> str:
    """The page as Markdown, at most about `max_chars` characters of it; links are made absolute by `base`."""
    converter = _Converter(base, max_chars)
    try:
        converter.feed(html)
        converter.close()
    except _Stop:
        pass
    text = converter.text()
    return text if len(text) <= max_chars else f"{text[:max_chars]}\n\n… [the page goes on]"


class _Converter(HTMLParser):
    """Writes the text while the parser tells of tags; it keeps no tree."""

    def __init__(self, base: str, max_chars: int) -> None:
        super().__init__(convert_charrefs=True)
        self._base = base
        self._room = 2 * max_chars
        self._parts: list[str] = []
        self._title: list[str] = []
        self._in_title = False
        self._skipping: list[str] = []
        self._lists: list[_List] = []
        self._quotes = 0
        self._pre = 0
        self._links: list[tuple[int, str]] = []
        self._marks: list[tuple[str, int]] = []
        self._row: list[str] | None = None
        self._cell: int | None = None
        self._rows = 0
        self._break: str | None = ""
        self._lead = ""

    def text(self) -> str:
        """What was written, with the title above."""
        while self._links:
            self._end_link()
        body = _MANY_LINES.sub("\n\n", "".join(self._parts)).strip()
        title = _SPACES.sub(" ", "".join(self._title)).strip()
        return f"# {title}\n\n{body}".strip() if title and f"# {title}\n" not in f"{body}\n" else body

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attrs}
        if tag == "title" and not self._title:
            self._in_title = True
        if self._skipping or tag in _SKIPPED or _is_hidden(known):
            if tag not in _VOID and tag != "title":
                self._skip(tag)
            return
        if tag in _HEADINGS:
            self._block(f"{'#' * _HEADINGS[tag]} ")
        elif tag in _MARKS:
            self._flush()
            self._marks.append((tag, len(self._parts)))
        elif tag in _BLOCKS:
            self._block()
        else:
            self._start_other(tag, known)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if self._skipping:
            self._unskip(tag)
        elif tag in _HEADINGS:
            self._lead = ""
            self._block()
        elif tag in _BLOCKS:
            self._block()
        elif tag in _MARKS:
            self._end_mark(tag)
        else:
            self._end_other(tag)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._title.append(data)
        elif not self._skipping:
            self._write(data)

    def _skip(self, tag: str) -> None:
        if len(self._skipping) < 1000:
            self._skipping.append(tag)

    def _unskip(self, tag: str) -> None:
        """Leave what is left out; end tags that were forgotten are taken as said."""
        if tag in self._skipping:
            while self._skipping.pop() != tag:
                pass

    def _start_other(self, tag: str, known: dict[str, str]) -> None:
        if tag in _TABULAR:
            self._start_table(tag)
            return
        match tag:
            case "ul" | "ol":
                self._block()
                self._lists.append(_List(tag == "ol", [_number(known.get("start", "1"))]))
            case "li":
                self._item()
            case "blockquote":
                self._quotes += 1
                self._block()
            case "pre":
                self._start_pre(known)
            case _ if tag in _CODE:
                self._code(known)
            case _:
                self._start_inline(tag, known)

    def _start_inline(self, tag: str, known: dict[str, str]) -> None:
        match tag:
            case "a":
                self._flush()
                self._links.append((len(self._parts), known.get("href", "").strip()))
            case "br":
                self._put("\n" + self._margin())
            case "hr":
                self._block()
                self._put("---")
                self._block()
            case "img":
                self._picture(known)
            case _:
                return

    def _end_other(self, tag: str) -> None:
        if tag in _TABULAR:
            self._end_table(tag)
            return
        match tag:
            case "a":
                self._end_link()
            case "ul" | "ol":
                if self._lists:
                    self._lists.pop()
                self._lead = ""
                self._block()
            case "li":
                self._lead = ""
            case "blockquote":
                self._quotes = max(0, self._quotes - 1)
                self._block()
            case "pre":
                self._end_pre()
            case _ if tag in _CODE and not self._pre:
                self._put("`")
            case _:
                return

    def _write(self, data: str) -> None:
        if self._pre:
            self._put(data.replace("\n", "\n" + self._margin()))
            return
        text = _SPACES.sub(" ", data)
        if self._break is not None or (self._parts and self._parts[-1].endswith((" ", "\n"))):
            text = text.lstrip(" ")
        if text:
            self._put(text)

    def _put(self, text: str) -> None:
        self._flush()
        self._parts.append(text)
        self._room -= len(text)
        if self._room < 0:
            raise _Stop

    def _flush(self) -> None:
        """Write the break and what begins the new paragraph: it was waiting for something to come."""
        if self._break is not None:
            self._parts.append(f"{self._break}{self._margin(bool(self._lead))}{self._lead}")
            self._break, self._lead = None, ""

    def _block(self, lead: str = "") -> None:
        """Begin a paragraph, unless nothing was written in this one; within a cell of a table there is only one."""
        if self._cell is not None:
            self._put(" ")
        elif not self._pre:
            self._break = "\n\n" if self._break is None else self._break
            self._lead += lead

    def _margin(self, item: bool = False) -> str:
        return "> " * self._quotes + "  " * (len(self._lists) - (item and bool(self._lists)))

    def _item(self) -> None:
        if self._cell is not None or not self._lists:
            self._block("- ")
            return
        ordered, numbers = self._lists[-1]
        self._break = "\n\n" if self._break == "\n\n" and len(self._lists) == 1 else "\n"
        self._lead = f"{numbers[0]}. " if ordered else "- "
        numbers[0] += 1

    def _end_link(self) -> None:
        if not self._links:
            return
        at, href = self._links.pop()
        inside = "".join(self._parts[at:])
        text = _SPACES.sub(" ", inside).strip()
        target = _absolute(self._base, href)
        if text and target:
            lead = inside[: len(inside) - len(inside.lstrip())]
            tail = " " if inside != inside.rstrip() else ""
            del self._parts[at:]
            self._parts.append(f"{lead}[{text}]({target}){tail}")

    def _end_mark(self, tag: str) -> None:
        """Put the mark around what is inside, where there is something and no paragraph begins in it."""
        if not any(name == tag for name, _ in self._marks):
            return
        while True:
            name, at = self._marks.pop()
            if name == tag:
                break
        inside = "".join(self._parts[at:])
        if inside.strip() and "\n" not in inside and at <= len(self._parts):
            lead = inside[: len(inside) - len(inside.lstrip())]
            tail = inside[len(inside.rstrip()) :]
            del self._parts[at:]
            self._parts.append(f"{lead}{_MARKS[tag]}{inside.strip()}{_MARKS[tag]}{tail}")

    def _picture(self, known: dict[str, str]) -> None:
        words = _SPACES.sub(" ", known.get("alt", "")).strip()
        target = _absolute(self._base, known.get("src", ""))
        if words:
            self._put(f"![{words}]({target})" if target else words)

    def _start_pre(self, known: dict[str, str]) -> None:
        self._block()
        self._pre += 1
        if self._pre == 1:
            found = _LANGUAGE.search(known.get("class", ""))
            self._put(f"{_FENCE}{found[1] if found else ''}\n{self._margin()}")

    def _code(self, known: dict[str, str]) -> None:
        if not self._pre:
            self._put("`")
            return
        found = _LANGUAGE.search(known.get("class", ""))
        if found and self._parts[-1].startswith(f"{_FENCE}\n"):
            self._parts[-1] = self._parts[-1].replace(_FENCE, _FENCE + found[1], 1)

    def _end_pre(self) -> None:
        if self._pre == 1:
            newline = "" if self._parts[-1].endswith("\n") else "\n"
            self._put(f"{newline}{self._margin()}{_FENCE}")
            self._pre = 0
            self._block()
        self._pre = max(0, self._pre - 1)

    def _start_table(self, tag: str) -> None:
        if tag == "table":
            self._block()
            self._rows, self._row, self._cell = 0, None, None
        elif tag == "tr":
            self._end_table("tr")
            self._row = []
        else:
            self._end_table("td")
            self._row = [] if self._row is None else self._row
            self._cell = len(self._parts)
            self._break, self._lead = None, ""

    def _end_table(self, tag: str) -> None:
        if self._cell is not None and self._row is not None:
            at = min(self._cell, len(self._parts))
            inside = "".join(self._parts[at:])
            del self._parts[at:]
            self._row.append(_SPACES.sub(" ", inside).strip().replace("|", "\\|"))
            self._cell = None
        if tag in ("tr", "table") and self._row is not None:
            self._end_row(self._row)
        if tag == "table":
            self._block()

    def _end_row(self, cells: list[str]) -> None:
        self._row = None
        if not any(cells):
            return
        margin = self._margin()
        lead = f"\n{margin}" if self._rows else f"\n\n{margin}"
        self._break, self._lead = None, ""
        self._put(f"{lead}| {' | '.join(cells)} |")
        if not self._rows:
            self._put(f"\n{margin}|{' --- |' * len(cells)}")
        self._rows += 1


def _is_hidden(known: dict[str, str]) -> bool:
    style = known.get("style", "").replace(" ", "").lower()
    return "hidden" in known or "display:none" in style or "visibility:hidden" in style


def _absolute(base: str, href: str) -> str:
    """A link to somewhere else; "" for a place in the same page, for scripts and for data."""
    if not href or href.startswith("#"):
        return ""
    try:
        target = urljoin(base, href)
    except ValueError:
        return ""
    return target.replace(" ", "%20").replace(")", "%29") if target.startswith(("http:", "https:", "mailto:")) else ""


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 1
