"""Toolwire gives tools to agents: write them, run them, wire them, publish them.

This module names the version. It does not import the packages below it, so that `import toolwire.sdk` stays light.
"""

from typing import Final

__all__ = ["__version__"]

__version__: Final = "0.1.0"
