"""What `.gitignore` files leave out, by git's rules; it walks no directories."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from toolwire.sdk.builtin.isolated.globs import BadPattern, Matcher, compile_glob, compile_segment

IGNORE_FILES = (".gitignore", ".ignore")
MAX_BYTES = 1024 * 1024
"""Of an ignore file, no more than this is read."""


class Rule(NamedTuple):
    """One line: `keeps` for a `!` line, `directories` for one that ends in `/`."""

    matches: Matcher
    keeps: bool
    directories: bool


class Ignores(NamedTuple):
    """The rules of one directory; `depth` is how many names its path has below the root of the walk, or less than none.

    `prefix` is the path from that directory to the root of the walk, when the directory is above it.
    """

    rules: tuple[Rule, ...]
    depth: int
    prefix: tuple[str, ...] = ()


def parse_rules(text: str) -> tuple[Rule, ...]:
    """The rules of an ignore file; a line that is no pattern is skipped, as git does."""
    rules: list[Rule] = []
    for line in text.splitlines():
        pattern = _trimmed(line)
        if not pattern or pattern.startswith("#"):
            continue
        keeps = pattern.startswith("!")
        pattern = pattern[1:] if keeps else pattern
        directories = pattern.endswith("/")
        pattern = pattern.rstrip("/")
        if not pattern:
            continue
        try:
            rules.append(Rule(_matcher(pattern), keeps, directories))
        except BadPattern:
            continue
    return tuple(rules)


def read_ignores(directory: str, depth: int, prefix: tuple[str, ...] = ()) -> Ignores | None:
    """The rules that stand in `directory`, or `None` where there are none."""
    rules: tuple[Rule, ...] = ()
    names = (*IGNORE_FILES, os.path.join(".git", "info", "exclude"))
    for name in names:
        try:
            with open(os.path.join(directory, name), encoding="utf-8", errors="replace") as file:
                rules += parse_rules(file.read(MAX_BYTES))
        except OSError:
            continue
    return Ignores(rules, depth, prefix) if rules else None


def rules_above(root: str) -> list[Ignores]:
    """The rules of the directories above `root`, the highest first, up to where the repository begins."""
    found: list[Ignores] = []
    prefix: tuple[str, ...] = ()
    directory = root
    while not os.path.exists(os.path.join(directory, ".git")):
        parent, name = os.path.split(directory)
        if not name:
            return []  # no repository: what lies above is nobody's business
        prefix = (name, *prefix)
        directory = parent
        rules = read_ignores(directory, 0, prefix)
        if rules is not None:
            found.append(rules)
    return found[::-1]


def is_ignored(stack: Sequence[Ignores], names: Sequence[str], is_directory: bool) -> bool:
    """Whether the path of `names`, below the root of the walk, is left out: the last rule that matches decides."""
    for ignores in reversed(stack):
        relative = (*ignores.prefix, *names[ignores.depth :])
        for rule in reversed(ignores.rules):
            if (is_directory or not rule.directories) and rule.matches(relative):
                return not rule.keeps
    return False


def _matcher(pattern: str) -> Matcher:
    if pattern.endswith("/**"):
        pattern += "/*"  # what is inside, not the directory itself
    if "/" in pattern:
        return compile_glob(_without_braces(pattern))
    name = compile_segment(pattern)  # at any depth: only the last name counts
    return lambda names: name.match(names[-1]) is not None


def _trimmed(line: str) -> str:
    stripped = line.rstrip(" \t\r")
    if stripped.endswith("\\") and len(stripped) < len(line):
        stripped += " "  # a quoted space at the end belongs to the pattern
    return stripped


def _without_braces(pattern: str) -> str:
    """Braces mean themselves in ignore files."""
    return pattern.replace("{", "\\{").replace("}", "\\}")
