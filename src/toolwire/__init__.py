"""Toolwire gives tools to agents: write them, run them, wire them, publish them.

This module names the version, and knows where `Server` is. It imports nothing else before that is used, so that
`import toolwire.sdk` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from toolwire.core.version import __version__

if TYPE_CHECKING:
    from toolwire.server import Server

__all__ = ["Server", "__version__"]


def __getattr__(name: str) -> Any:
    if name != "Server":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = import_module("toolwire.server").Server
    return value
