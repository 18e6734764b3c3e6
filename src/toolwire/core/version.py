"""The version of this package, for those who may not import the package itself."""

from typing import Final

__version__: Final = "0.1.0"
