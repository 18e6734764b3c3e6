"""What commands print: results on stdout, everything said to a person besides on stderr; it decides no wording.

With `--json` a command prints exactly one line of JSON on stdout. Tables are for people at a terminal.
"""

import sys
from collections.abc import Sequence
from typing import Any

import msgspec

from toolwire.cli.failure import Failed


def print_json(value: Any) -> None:
    """One line of JSON on stdout, sent off at once: a program may be waiting for it at the other end of a pipe."""
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
    sys.stdout.flush()


def print_text(text: str) -> None:
    """A result for a person, on stdout."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """Something besides the result, on stderr."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def print_failure(failed: Failed, as_json: bool) -> None:
    """Why a command failed: a line on stderr, and with `as_json` the same for a program on stdout."""
    say("toolwire: " + failed.message.replace("\n", "\ntoolwire: "))
    if as_json:
        error: dict[str, Any] = {"code": failed.code, "message": failed.message}
        if failed.data:
            error["data"] = failed.data
        print_json({"error": error})


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], none: str) -> None:
    """Rows under headings on stdout, or the sentence `none` on stderr. A pipe gets them separated by tabs, whole."""
    if not rows:
        say(none)
    elif not sys.stdout.isatty():
        print_text("\n".join("\t".join(row) for row in [columns, *rows]))
    else:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        Console().print(table)
