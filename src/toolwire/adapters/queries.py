"""The SQL of `queries.sql` by name; it does not talk to a database."""

import re
from functools import cache
from importlib.resources import files

_BLOCK = re.compile(r"^-- name: (?P<name>\w+)\n(?P<about>(?:--.*\n)+)(?P<sql>[^;]+);", re.MULTILINE)
_VALUES = re.compile(r"VALUES (\((?:\?, )*\?\))")


def load(text: str) -> dict[str, str]:
    """Read named queries: each begins with `-- name: …` and comment lines about it, and ends with a semicolon."""
    return {block["name"]: block["sql"].strip() for block in _BLOCK.finditer(text)}


SQL = load(files("toolwire.adapters").joinpath("queries.sql").read_text("utf-8"))
"""Every query of the SQLite store."""


@cache
def for_rows(name: str, rows: int) -> str:
    """The query `name`, whose `VALUES (?, …)` stands for one row, with room for `rows` rows."""
    return _VALUES.sub(lambda values: "VALUES " + ", ".join([values[1]] * rows), SQL[name])
