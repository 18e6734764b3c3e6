"""Hold the names of the package to GLOSSARY.md; it does not judge the words of messages, tests or docs.

In the glossary, an entry ends with *Avoid:* and the words, in backticks, that mean the same: no name defined under
src/toolwire may contain one. A function's first word is let through, since there it is a verb (`run` runs something, a
`run` is a call). Words after *Avoid everywhere:* are found in comments and docstrings too. String literals are left
alone: other people's wires spell as they please. So are the names after *Keep:*, which a contract has fixed.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

MODULES_TO_AVOID = re.compile(r"(utils?|common|helpers?|managers?|misc|.*_v\d+)")
"""Names of modules and packages that say nothing about what is inside."""

_ENTRY = re.compile(r"^\*\*(?P<term>[^*]+)\*\*(?P<text>.*(?:\n(?!\*\*|#|\n).*)*)", re.MULTILINE)
_AVOID = re.compile(r"\*Avoid(?P<everywhere> everywhere)?:\*(?P<words>.*)", re.DOTALL)
_KEEP = re.compile(r"\*Keep:\*(?P<names>.*)", re.DOTALL)
_QUOTED = re.compile(r"`([^`]+)`")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


Words: TypeAlias = tuple[str, ...]


class Glossary(NamedTuple):
    """The words to avoid, each with the term to use instead, as `words()` splits them; and whole names to let be."""

    names: dict[Words, str]
    everywhere: dict[Words, str]
    kept: set[str]


class Defined(NamedTuple):
    """A name that the source gives to something, where it does so, and its words that are subject to the glossary."""

    line: int
    name: str
    words: Words


def main(root: Path) -> int:
    """Print the names under `root`/src/toolwire that the glossary avoids, a line each, and return their number."""
    glossary = read_glossary((root / "GLOSSARY.md").read_text("utf-8"))
    findings: list[str] = []
    for path in sorted((root / "src" / "toolwire").rglob("*.py")):
        where = path.relative_to(root).as_posix()
        findings += [f"{where}:{finding}" for finding in check_module_name(path)]
        findings += [f"{where}:{finding}" for finding in check_source(path.read_text("utf-8"), glossary)]
    for finding in findings:
        print(finding)
    return len(findings)


def read_glossary(text: str) -> Glossary:
    """Read the words to avoid.

    Raises:
        ValueError: no entry has an *Avoid* list, so this is not our glossary.
    """
    glossary = Glossary({}, {}, set())
    for entry in _ENTRY.finditer(text):
        keep = _KEEP.search(entry["text"])
        if keep is not None:
            glossary.kept.update(_QUOTED.findall(keep["names"]))
        avoid = _AVOID.search(entry["text"])
        if avoid is None:
            continue
        for word in _QUOTED.findall(avoid["words"]):
            for avoided in (glossary.names, glossary.everywhere) if avoid["everywhere"] else (glossary.names,):
                known = avoided.get(words(word))
                avoided[words(word)] = f"{known} or {entry['term']}" if known else entry["term"]
    if not glossary.names:
        raise ValueError("GLOSSARY.md has no entry with *Avoid:* and words in backticks; write one as **term**: …")
    return glossary


def check_module_name(path: Path) -> Iterator[str]:
    """Whether a module, or the package whose `__init__.py` this is, has a name that names nothing."""
    name = path.parent.name if path.stem == "__init__" else path.stem
    if MODULES_TO_AVOID.fullmatch(name):
        yield f"1: a module called {name!r} gathers everything: name it after the noun it holds"


def check_source(source: str, glossary: Glossary) -> Iterator[str]:
    """The avoided names a module defines and the avoided words of its prose, as `line: what to write instead`."""
    for defined in sorted(_definitions(ast.parse(source))):
        if defined.name in glossary.kept:
            continue
        for avoided, term in _found(defined.words, glossary.names):
            yield f"{defined.line}: {defined.name!r} says {avoided!r}: the glossary calls it {term!r}"
    for line, text in _prose(source):
        for avoided, term in _found(words(text), glossary.everywhere):
            yield f"{line}: the text says {avoided!r}: the glossary calls it {term!r}"


def words(text: str) -> Words:
    """Split a name in snake_case or CamelCase, or prose, into its words: `ToolRun` gives `("tool", "run")`."""
    return tuple(word.lower() for word in _WORD.findall(text))


def _found(spoken: Words, avoided: Mapping[Words, str]) -> Iterator[tuple[str, str]]:
    singular = tuple(word.removesuffix("s") for word in spoken)
    for word, term in avoided.items():
        size = len(word)
        starts = range(len(spoken) - size + 1)
        if any(word in (spoken[start : start + size], singular[start : start + size]) for start in starts):
            yield "_".join(word), term


def _definitions(tree: ast.Module) -> Iterator[Defined]:
    for node in ast.walk(tree):
        match node:
            case ast.alias(name=given, asname=name) if name == given:
                pass  # passes a name on, which is judged where it is defined
            case ast.FunctionDef(name=name, lineno=line) | ast.AsyncFunctionDef(name=name, lineno=line):
                yield Defined(line, name, words(name)[1:])
            case ast.ClassDef(name=name, lineno=line) | ast.arg(arg=name, lineno=line):
                yield Defined(line, name, words(name))
            case (
                ast.Name(id=name, ctx=ast.Store(), lineno=line) | ast.Attribute(attr=name, ctx=ast.Store(), lineno=line)
            ):
                yield Defined(line, name, words(name))
            case (
                ast.alias(asname=str(name), lineno=line)
                | ast.ExceptHandler(name=str(name), lineno=line)
                | ast.MatchAs(name=str(name), lineno=line)
                | ast.MatchStar(name=str(name), lineno=line)
                | ast.MatchMapping(rest=str(name), lineno=line)
            ):
                yield Defined(line, name, words(name))
            case _:
                pass


def _prose(source: str) -> Iterator[tuple[int, str]]:
    """Comments and strings that are statements (docstrings, also those under a constant), each with its first line."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text), lineno=line)):
                yield line, text
            case _:
                pass


if __name__ == "__main__":
    sys.exit(1 if main(Path(__file__).resolve().parents[1]) else 0)
