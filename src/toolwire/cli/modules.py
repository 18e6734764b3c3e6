"""Imports the module that a command names, `MODULE` or `MODULE:NAME`, and says in one line why it cannot.

It does not know what the command wants of the module.
"""

import importlib
import importlib.util
import os
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from toolwire.cli.failure import Failed, debugging, misused

_SPEC = re.compile(r"(?P<module>.+?)(?::(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*))?")


def load(spec: str) -> tuple[ModuleType, str | None]:
    """Import what `spec` names.

    The current folder, or the file's own, is put on the import path first, as `python` does for a script.

    Args:
        spec: a dotted module or the path of a Python file, then perhaps a colon and a name within it.

    Returns:
        The module, and the name if one was given.

    Raises:
        Failed: there is no such module, or it cannot be imported; the line says where it stumbled.
    """
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise misused(f"{spec!r} names no module; give MODULE or MODULE:NAME, such as hello:agent or hello.py")
    name = match["module"]
    path = Path(name)
    is_path = path.suffix == ".py" or os.sep in name or "/" in name
    try:
        return (_from_file(path) if is_path else _from_name(name)), match["name"]
    except Failed:
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever an author's module does while it is imported, SystemExit too
        if debugging():
            raise
        raise Failed(f"cannot import {name!r}: {_place(error)}{_reason(error)}", "module") from None


def find(module: ModuleType, name: str) -> Any:
    """What a module calls `name`, which may have dots.

    Raises:
        Failed: it has no such name.
    """
    value: Any = module
    for part in name.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            there = ", ".join(known for known in public_names(module)) or "nothing"
            raise Failed(f"{module.__name__!r} has no {name!r}; it has {there}", "module") from None
    return value


def public_names(module: ModuleType) -> list[str]:
    """What a module defines or imports for itself, in order, without modules and private names."""
    return [
        name for name, value in vars(module).items() if not name.startswith("_") and not isinstance(value, ModuleType)
    ]


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        hint = f"; did you mean {path}.py?" if path.with_name(path.name + ".py").is_file() else ""
        raise Failed(f"there is no file {str(path)!r}{hint}", "module")
    _put_first(str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise Failed(f"{str(path)!r} is no Python file", "module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # as import does, so that hints and pickles find it by its name
    spec.loader.exec_module(module)
    return module


def _from_name(name: str) -> ModuleType:
    _put_first(os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
            raise  # the module is there, and one that it imports is not
        raise Failed(f"there is no module {name!r} in {os.getcwd()} or among the installed ones", "module") from None


def _put_first(folder: str) -> None:
    if folder not in sys.path:
        sys.path.insert(0, folder)


def _place(error: BaseException) -> str:
    """Where in the author's code it went wrong: the last frame outside of the import system and of ourselves."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}, line {error.lineno}: "
    ours = str(Path(__file__).parents[1])
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(("<", ours)):
            return f"{frame.filename}, line {frame.lineno}: "
    return ""


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error.msg if isinstance(error, SyntaxError) else error}"
