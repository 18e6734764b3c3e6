"""Which of our languages a browser wants; it has no words in any of them."""

from typing import Literal, TypeAlias

Language: TypeAlias = Literal["en", "zh"]


def language_of(accept_language: str) -> Language:
    """Chinese where it stands before English in `Accept-Language`, else English."""
    best: tuple[float, Language] = (0.0, "en")
    for part in accept_language.split(",")[:20]:
        tag, _, weight = part.partition(";")
        name = tag.strip().lower()[:2]
        if name in ("zh", "en") and (value := _weight(weight)) > best[0]:
            best = (value, "zh" if name == "zh" else "en")
    return best[1]


def _weight(text: str) -> float:
    _, _, number = text.partition("q=")
    try:
        return float(number) if number.strip() else 1.0
    except ValueError:
        return 0.0
