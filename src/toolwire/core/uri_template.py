"""URI templates, the part of RFC 6570 that a server can match against a URI; it reads nothing.

`{name}` stands for a piece without a slash, `{+name}` for one that may have slashes, and `{?a,b}` at the end for
query parameters, any of which may be left out. A piece is percent-decoded. A value that could lead out of the place
it is put into matches nothing: one with `..` between slashes, with a NUL, or that begins with a slash.
"""

import re
from urllib.parse import unquote

_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SIMPLE, _RESERVED = r"[^/?#]+", r"[^?#]+"
_SLASHES = re.compile(r"[/\\]")


class UriTemplate:
    """A template, ready to be matched.

    Attributes:
        text: as it was written.
        names: its variables, in their order.
        optional: those that a URI may leave out.

    Raises:
        ValueError: it is malformed, or has an expression that no URI can be matched against.
    """

    __slots__ = ("_pattern", "_query", "names", "optional", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        path, self._query = _split_query(text)
        pieces: list[str] = []
        names: list[str] = []
        end = 0
        for match in _EXPRESSION.finditer(path):
            reserved = match[1].startswith("+")
            name = match[1][1:] if reserved else match[1]
            if _NAME.fullmatch(name) is None:
                raise _unusable(text, match[0])
            pieces += (_literal(text, path[end : match.start()]), f"({_RESERVED if reserved else _SIMPLE})")
            names.append(name)
            end = match.end()
        pieces.append(_literal(text, path[end:]))
        self.names = (*names, *self._query)
        self.optional = frozenset(self._query)
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"{text!r} has a variable twice; give each a name of its own")
        self._pattern = re.compile("".join(pieces))

    def match(self, uri: str) -> dict[str, str] | None:
        """The variables' values in `uri`, or `None` when it is not of this family."""
        path, question, query = uri.partition("?") if self._query else (uri, "", "")
        found = self._pattern.fullmatch(path)
        if found is None:
            return None
        pairs = list(zip(self.names, found.groups(), strict=False))
        if question:
            given = [(unquote(key), value) for key, _, value in (part.partition("=") for part in query.split("&"))]
            pairs += [(key, value.replace("+", " ")) for key, value in given if key in self.optional]
        values: dict[str, str] = {}
        for name, raw in pairs:
            value = _decoded(raw)
            if value is None or name in values or not _stays_inside(value):
                return None
            values[name] = value
        return values


def is_template(uri: str) -> bool:
    """Whether `uri` has variables."""
    return "{" in uri or "}" in uri


def _split_query(text: str) -> tuple[str, tuple[str, ...]]:
    """The template without its `{?…}` and the names in there."""
    start = text.find("{?")
    if start < 0:
        return text, ()
    names = tuple(text[start + 2 : -1].split(","))
    if not text.endswith("}") or not all(_NAME.fullmatch(name) for name in names):
        raise _unusable(text, text[start:])
    return text[:start], names


def _literal(text: str, piece: str) -> str:
    if "{" in piece or "}" in piece:
        raise _unusable(text, piece)
    return re.escape(piece)


def _unusable(text: str, piece: str) -> ValueError:
    return ValueError(
        f"{text!r}: {piece!r} cannot be matched; write {{name}}, {{+name}} (slashes too) or {{?a,b}} at the end"
    )


def _decoded(raw: str) -> str | None:
    try:
        return unquote(raw, errors="strict")
    except UnicodeDecodeError:
        return None


def _stays_inside(value: str) -> bool:
    pieces = _SLASHES.split(value)
    return "\0" not in value and ".." not in pieces and (pieces[0] != "" or len(pieces) == 1)
