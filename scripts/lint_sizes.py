"""Hold modules and functions to a size that fits in a head; it has no list of exceptions and takes no comment as one.

A function's length is counted from `def` to its last line without its docstring: a contract may be as long as it must.
"""

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

PAGE = "web/src"
PAGE_LINES = 400
PAGE_FILES = (".ts", ".tsx", ".css")
MADE = "auto-generated"
"""A file with this word in its first lines is nobody's to read."""

MODULE_LINES = {"src": 400, "tests": 450, "scripts": 400, "examples": 400, "docs_src": 400, "benchmarks": 400}
"""The longest module allowed, by top-level folder."""

FUNCTION_LINES = 60

AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef


def main(root: Path) -> int:
    """Print what is too long under `root`, a line each, and return how much that is."""
    findings = [finding for folder in MODULE_LINES for finding in check_folder(root, folder)] + list(check_page(root))
    for finding in findings:
        print(finding)
    return len(findings)


def check_folder(root: Path, folder: str) -> Iterator[str]:
    """What is too long in one top-level folder, as `path:line: what to do`; an absent folder has nothing too long."""
    for path in sorted((root / folder).rglob("*.py")):
        if "node_modules" in path.parts:
            continue
        where = path.relative_to(root).as_posix()
        source = path.read_text("utf-8")
        lines = len(source.splitlines())
        if lines > MODULE_LINES[folder]:
            yield f"{where}:1: {lines} lines, at most {MODULE_LINES[folder]}: give one of its nouns a module of its own"
        for function in _functions(ast.parse(source, where)):
            length = function_length(function)
            if length > FUNCTION_LINES:
                name = function.name
                yield f"{where}:{function.lineno}: {name}() has {length} lines, at most {FUNCTION_LINES}: split it"


def check_page(root: Path) -> Iterator[str]:
    """What is too long of the page; the lengths of its functions are its linter's business."""
    for path in sorted((root / PAGE).rglob("*")):
        if path.suffix in PAGE_FILES:
            lines = path.read_text("utf-8").splitlines()
            if len(lines) > PAGE_LINES and not any(MADE in line for line in lines[:5]):
                where = path.relative_to(root).as_posix()
                yield f"{where}:1: {len(lines)} lines, at most {PAGE_LINES}: give one of its nouns a file of its own"


def function_length(function: AnyFunction) -> int:
    """The lines of a function from `def` to its end, its docstring left out."""
    length = (function.end_lineno or function.lineno) - function.lineno + 1
    if ast.get_docstring(function, clean=False) is not None:
        docstring = function.body[0]
        length -= (docstring.end_lineno or docstring.lineno) - docstring.lineno + 1
    return length


def _functions(tree: ast.Module) -> Sequence[AnyFunction]:
    return [node for node in ast.walk(tree) if isinstance(node, AnyFunction)]


if __name__ == "__main__":
    sys.exit(1 if main(Path(__file__).resolve().parents[1]) else 0)
