"""Cuts prose into sentences and search terms, for the scripts with spaces and for those without.

It does not rank, score or translate, and it detects no language: the characters decide.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

MAX_LATIN_TERM_CHARS: Final = 64
"""Longer unbroken strings (base64, hashes) are cut here, so that one of them cannot fill an index."""

STOP_WORDS: Final = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below between both but by
    can could did do doe doing down during each either few for from further had has have having he her here hers him
    his how i if in into is it its itself just me more most my no nor not of off on once only or other our out over own
    same she should so some such than that the their them then there these they this those through to too under until
    up very was we were what when where which while who whom why will with would you your
    的 了 是 在 和 与 也 就 都 而 及 或 被 把 这 那 它 我 你 他 她 们 一个 这个 那个 什么 如何 怎么 是什 么是
    """.split()
)
"""Terms that carry no topic, in the form in which `terms` yields them ("doe" is what is left of "does")."""

# Han (with the first extension), the two kana, Hangul: scripts whose words no space parts, or whose endings vary.
_CJK: Final = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af"
_CJK_OR_WORD: Final = re.compile(f"([{_CJK}]+)|([^\\W_{_CJK}]+(?:[-\u2010][^\\W_{_CJK}]+)*)")
_HYPHEN: Final = re.compile("[-\u2010]")
_ACCENTS: Final = re.compile("[\u0300-\u036f]")

_CLOSERS: Final = "\"')]\u2019\u201d\u300b\u300d\u300f\uff09"
_WIDE_ENDS: Final = "\u3002\uff01\uff1f\uff1b\uff61"
_SENTENCE_END: Final = re.compile(
    f"[{_WIDE_ENDS}]+[{re.escape(_CLOSERS)}]*\\s*|[.!?\u2026]+[{re.escape(_CLOSERS)}]*(?:\\s+|$)"
)
# A blank line, or a line that opens with a bullet, a number or a heading, starts something new.
_BLOCK_BREAK: Final = re.compile(r"\n[^\S\n]*\n\s*|\n(?=\s*(?:[-*+\u2022]\s|\d{1,3}[.)]\s|#{1,6}\s))")
_LIST_MARK: Final = re.compile(r"[-*+\u2022#(\s]*\d{1,3}")
_INITIAL_OR_TITLE: Final = re.compile(
    r"(?:^|[\s(\[])(?:[A-Za-z]|e\.g|i\.e|approx|cf|dr|fig|mr|mrs|ms|mt|prof|st|vs)$", re.IGNORECASE
)
"""Abbreviations that never end a sentence."""

_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(\[])(?:a\.m|p\.m|[A-Z](?:\.[A-Z])+|dept|eq|etc|inc|jr|ltd|no|nos|pp?|sr|vol)$", re.IGNORECASE
)
"""Abbreviations that may end one: what follows decides."""

_LOOK_BACK_CHARS: Final = 16


def sentences(text: str) -> list[str]:
    """Splits `text` into sentences, in order, each stripped and with its white space reduced to single spaces.

    A full stop ends a sentence before white space or the end, unless it belongs to a common abbreviation or an
    initial; the full-width marks end one anywhere. Blank lines and list items are borders as well.
    """
    found: list[str] = []
    for block in _BLOCK_BREAK.split(text):
        found.extend(_block_sentences(" ".join(block.split())))
    return found


def _block_sentences(block: str) -> Iterator[str]:
    start = 0
    for end in _SENTENCE_END.finditer(block):
        if _goes_on(block, start, end):
            continue
        yield block[start : end.end()].strip()
        start = end.end()
    if rest := block[start:].strip():
        yield rest


def _goes_on(block: str, start: int, end: re.Match[str]) -> bool:
    """Whether the mark at `end` stands inside the sentence that began at `start`."""
    following = block[end.end() : end.end() + 1]
    if not following:
        return False
    mark = end.group().rstrip()
    if mark != ".":  # an ellipsis, or the end of a quotation, may be followed by more of the sentence
        return following.islower() and (mark.startswith("..") or mark.endswith(tuple(_CLOSERS)))
    # Enough to see the longest abbreviation; the whole would make a text of nothing else take quadratic time.
    head = block[max(start, end.start() - _LOOK_BACK_CHARS) : end.start()]
    if _LIST_MARK.fullmatch(head):
        return True
    if _ABBREVIATION.search(head):
        return following.islower() or following.isdigit()
    # The pronoun in "so am I." looks like an initial and is none.
    return _INITIAL_OR_TITLE.search(head) is not None and not head.endswith(" I")


def joined(parts: Iterable[str]) -> str:
    """Sentences as running text: a space between two, but none behind a full-width mark."""
    text = ""
    for part in parts:
        text += part if not text or text.rstrip(_CLOSERS).endswith(tuple(_WIDE_ENDS)) else f" {part}"
    return text


def terms(text: str) -> list[str]:
    """The search terms of `text`, in order and with repetitions.

    Words are folded to lower case without accents and lose an English plural ending; one with hyphens gives its parts
    and the whole written together ("time-out": time, out, timeout). A stretch of Chinese, Japanese or Korean gives
    every pair of neighbouring characters, or its one character if it stands alone.
    """
    found: list[str] = []
    for stretch in _CJK_OR_WORD.finditer(_fold(text)):
        if cjk := stretch.group(1):
            found.extend([cjk[i : i + 2] for i in range(len(cjk) - 1)] or [cjk])
        else:
            parts = _HYPHEN.split(stretch.group(2))
            whole = ["".join(parts)] if len(parts) > 1 else []
            found.extend(_singular(word[:MAX_LATIN_TERM_CHARS]) for word in parts + whole)
    return found


def characters(text: str) -> list[str]:
    """The single Chinese, Japanese and Korean characters of `text`, so that a query of one of them finds something."""
    return [char for stretch in _CJK_OR_WORD.finditer(_fold(text)) if stretch.group(1) for char in stretch.group(1)]


def shorten(text: str, max_chars: int) -> str:
    """`text` itself if it has at most `max_chars` characters, else its beginning and an ellipsis, at a word's end.

    Where the last word is longer than a third of the room, as in scripts without spaces, it is cut inside.
    """
    if len(text) <= max_chars:
        return text
    room = text[: max_chars - 1]
    if not text[max_chars - 1].isspace():
        head, space, _ = room.rpartition(" ")
        room = head if space and len(head) * 3 >= max_chars * 2 else room
    return room.rstrip(" ,;:.\u2014-") + "\u2026"


def _fold(text: str) -> str:
    """Lower case, compatibility forms and Latin accents gone; Hangul and voiced kana stay whole."""
    spread = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", _ACCENTS.sub("", spread))


def _singular(word: str) -> str:
    if len(word) <= 3 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1]
