"""Which texts of strangers may be shown to people and models; it does not show any.

A text that hides what it says (control, bidirectional, zero-width and tag characters) is refused where it is declared,
and cleaned where it becomes part of what a model reads (cards.md §2, decision 12).
"""

import unicodedata

_HIDDEN_CATEGORIES = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_CLAIMS = ("neurosquad", "toolwire", "official", "verified")


def hidden_characters(text: str, *, multiline: bool = False) -> str:
    """The characters of a text that cannot be seen; `multiline` lets newline and tab through."""
    allowed = "\n\t" if multiline else ""
    return "".join(c for c in text if unicodedata.category(c) in _HIDDEN_CATEGORIES and c not in allowed)


def visible(text: str, max_chars: int, *, multiline: bool = False) -> str:
    """A stranger's words where we show them as such: nothing in them hides what they say, or is a key of a terminal."""
    hidden = hidden_characters(text, multiline=multiline)
    return cut("".join(c for c in text if c not in hidden), max_chars)


def cleaned(text: str, max_chars: int) -> str:
    """A name as it may stand inside what a model reads: on one line, without quotes or brackets that could end it."""
    visible = "".join(" " if c.isspace() else c for c in text if c.isspace() or not hidden_characters(c))
    plain = visible.replace('"', "'").replace("[", "(").replace("]", ")")
    return " ".join(plain.split())[:max_chars].rstrip()


def cut(text: str, max_chars: int) -> str:
    """At most so many code points of a text, with an ellipsis where it goes on; lone surrogates become "?"."""
    whole = text.encode("utf-8", "replace").decode()
    return whole if len(whole) <= max_chars else whole[: max_chars - 1] + "…"


def one_line(text: str, max_chars: int) -> str:
    """A text on one line, cut (decision 28)."""
    return cut(" ".join(text.split()), max_chars)


def claims_to_be_ours(text: str) -> bool:
    """Whether a name says that it comes from us or was vouched for, however it is spelt (cards.md §2)."""
    letters = "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalpha())
    return any(claim in letters for claim in _CLAIMS)
