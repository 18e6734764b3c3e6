"""The built page, for tests that look at it or have a host serve it."""

from functools import cache
from pathlib import Path

from scripts.build_web import build


@cache
def page_folder() -> Path:
    """The folder of the page as the sources are now."""
    return build()
