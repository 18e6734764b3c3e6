"""What the bodies of all built-in tools have in common: how the system's errors are told; it opens nothing."""

from collections.abc import Generator
from contextlib import contextmanager

from toolwire.core.errors import ToolwireError
from toolwire.sdk.builtin.workspace import shortened
from toolwire.sdk.result import ToolError


@contextmanager
def told(tool: str, path: str) -> Generator[None]:
    """Turn what goes wrong with `path` into words for the model, beginning with the tool's name.

    Raises:
        ToolError: instead of `OSError`, `ToolwireError` and `ToolError`.
    """
    try:
        yield
    except ToolError as error:
        raise ToolError(f"{tool}: {error}") from None
    except ToolwireError as error:
        raise ToolError(f"{tool}: {error.message}") from None
    except FileNotFoundError:
        raise ToolError(f"{tool}: no such file: {shortened(path)}; find it with Glob or Grep") from None
    except PermissionError:
        raise ToolError(f"{tool}: no permission for {shortened(path)}; ask the user") from None
    except OSError as error:
        raise ToolError(f"{tool}: {shortened(path)}: {error.strerror or type(error).__name__}") from None
