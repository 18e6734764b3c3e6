"""A function's docstring as descriptions for a model; it knows Google's sections and reST fields, nothing else."""

import inspect
import re
from typing import NamedTuple

_SECTION = re.compile(r"^[A-Z][A-Za-z ]{1,30}:$")
_ARGUMENTS = ("Args:", "Arguments:", "Parameters:", "Params:")
_ENTRY = re.compile(r"^\*{0,2}(?P<name>[A-Za-z_]\w*)(?:\s*\([^)]*\))?\s*:\s*(?P<text>.*)$")
_FIELD = re.compile(r"^:param\s+(?:[^:]+\s)?(?P<name>\w+):\s*(?P<text>.*)$")


class Described(NamedTuple):
    """What a docstring says: its first paragraph as one line, and a text for each parameter it names."""

    text: str
    parameters: dict[str, str]


def read_docstring(doc: str | None) -> Described:
    """Split `doc` into the description and the parameters' descriptions."""
    lines = inspect.cleandoc(doc or "").splitlines()
    return Described(_first_paragraph(lines), {**_google(lines), **_rest(lines)})


def _first_paragraph(lines: list[str]) -> str:
    taken: list[str] = []
    for line in lines:
        if not line.strip() or _SECTION.match(line) or line.startswith(":"):
            break
        taken.append(line.strip())
    return " ".join(taken)


def _google(lines: list[str]) -> dict[str, str]:
    """The entries of the "Args:" section: one indentation each, deeper lines go on with the entry above."""
    starts = [index for index, line in enumerate(lines) if line in _ARGUMENTS]
    if not starts:
        return {}
    flat = starts[0] == 0  # a docstring that begins with its section has lost the section's indentation
    section: list[str] = []
    for line in lines[starts[0] + 1 :]:
        if _SECTION.match(line) or (line.strip() and not flat and not line.startswith((" ", "\t"))):
            break
        section.append(line)
    found: dict[str, list[str]] = {}
    name = ""
    for line in inspect.cleandoc("\n" + "\n".join(section)).splitlines():
        entry = None if line.startswith((" ", "\t")) else _ENTRY.match(line)
        if entry is not None:
            name = entry["name"]
            found[name] = [entry["text"]]
        elif name and line.strip():
            found[name].append(line.strip())
    return {key: " ".join(parts).strip() for key, parts in found.items()}


def _rest(lines: list[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    name = ""
    for line in lines:
        entry = _FIELD.match(line)
        if entry is not None:
            name = entry["name"]
            found[name] = [entry["text"]]
        elif line.startswith(":") or not line.strip():
            name = ""
        elif name:
            found[name].append(line.strip())
    return {key: " ".join(parts).strip() for key, parts in found.items()}
