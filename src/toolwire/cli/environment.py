"""Reads environment variables for the commands; it knows none of them by name."""

import os


def variable(name: str) -> str | None:
    """A variable's value, without blanks around it; `None` when it is not set or empty."""
    return os.environ.get(name, "").strip() or None
