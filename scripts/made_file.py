"""Writes a file that a script has made of other parts of the tree, or says that it is not current; it makes none."""

import sys
from pathlib import Path


def write_or_check(target: Path, text: str, arguments: list[str], script: str) -> int:
    """Write the file, or with `--check` among the arguments say whether it is current; the exit code.

    Args:
        target: the file.
        text: what it should hold.
        arguments: of the command line.
        script: what makes it, below the root.
    """
    if "--check" not in arguments:
        target.write_text(text, "utf-8")
        return 0
    if target.exists() and target.read_text("utf-8") == text:
        return 0
    print(f"{target.name} is not current: run python {script}", file=sys.stderr)
    return 1
