"""What of an offer has changed, as values; it tells nobody."""

from collections.abc import Callable
from typing import Literal, TypeAlias

from msgspec import Struct

Listed = Literal["tools", "prompts", "resources"]


class ListChanged(Struct, frozen=True):
    """A list is another one than before."""

    which: Listed


class ResourceUpdated(Struct, frozen=True):
    """What is at `uri` is something else than before."""

    uri: str


Change: TypeAlias = ListChanged | ResourceUpdated
OnChange: TypeAlias = Callable[[Change], None]
"""Told of each change as it happens; must neither block nor raise."""
