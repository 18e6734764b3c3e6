"""A package's files as a checked tree: which paths and sizes are taken, and one hash over all of them; it fetches none.

Contract: cards.md §2, "Packages": 5,000 regular files at most, each 20 MB at most and together 100 MB, paths of at most
240 characters and 20 parts; links are passed over, and the hash is that of the sorted lines `<sha256>  <path>`.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from toolwire.core.errors import InvalidParam, PayloadTooLarge

MAX_FILES: Final = 5_000
MAX_FILE_BYTES: Final = 20 * 1024 * 1024
MAX_TREE_BYTES: Final = 100 * 1024 * 1024
MAX_PATH_CHARS: Final = 240
MAX_PATH_PARTS: Final = 20
PASSED_OVER: Final = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__", ".DS_Store"})
"""Never part of a package: what version control, package managers and desktops leave in a folder."""
HOST_FOLDER: Final = "__ns"


class Budget:
    """Counts the files of one package as they come, and refuses the one that is too many or too much."""

    def __init__(self) -> None:
        self._bytes = 0
        self._seen: dict[str, str] = {}

    def admit(self, path: str) -> str | None:
        """The path as it will be kept; `None` for one that is passed over.

        Raises:
            InvalidParam: the path leads out of the package, cannot be kept everywhere, or there is one like it.
            PayloadTooLarge: the package has too many files.
        """
        parts = PurePosixPath(path).parts
        if any(part in PASSED_OVER for part in parts):
            return None
        kept = "/".join(parts)
        _check_path(path, parts)
        double = self._seen.get(kept.casefold())
        if double is not None:
            raise InvalidParam(f"{kept!r} and {double!r} would be one file on some systems; rename one", param="source")
        self._seen[kept.casefold()] = kept
        if len(self._seen) > MAX_FILES:
            raise PayloadTooLarge(f"the package has more than {MAX_FILES} files; leave out what it does not need")
        return kept

    def spend(self, path: str, n_bytes: int, of_file: int) -> None:
        """`n_bytes` more of a file, which has `of_file` by now.

        Raises:
            PayloadTooLarge: the file, or the package, is too large.
        """
        self._bytes += n_bytes
        if of_file > MAX_FILE_BYTES:
            raise PayloadTooLarge(f"{path!r} has more than {MAX_FILE_BYTES} bytes; leave it out or make it smaller")
        if self._bytes > MAX_TREE_BYTES:
            raise PayloadTooLarge(f"the package has more than {MAX_TREE_BYTES} bytes; leave out what it does not need")


def files_of(folder: Path) -> Iterator[tuple[Path, str]]:
    """The regular files below a folder, each with its path in the package; links and the like are passed over.

    Raises:
        InvalidParam, PayloadTooLarge: as `Budget`.
    """
    budget = Budget()
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in PASSED_OVER and not Path(root, name).is_symlink())
        for name in sorted(names):
            file = Path(root, name)
            if file.is_symlink() or not file.is_file():
                continue
            kept = budget.admit(file.relative_to(folder).as_posix())
            if kept is not None:
                size = file.stat().st_size
                budget.spend(kept, size, size)
                yield file, kept


def tree_hash(folder: Path) -> str:
    """One hash over all files of a package, as hex.

    Raises:
        InvalidParam, PayloadTooLarge: as `Budget`.
    """
    lines = sorted(f"{_file_hash(file)}  {path}\n" for file, path in files_of(folder))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _file_hash(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _check_path(path: str, parts: tuple[str, ...]) -> None:
    if not parts or path.startswith("/") or "\\" in path or any(part in ("", ".", "..") for part in parts):
        raise InvalidParam(f"{path!r} leads out of the package", param="source")
    if len(path) > MAX_PATH_CHARS or len(parts) > MAX_PATH_PARTS:
        words = f"a path has at most {MAX_PATH_CHARS} characters and {MAX_PATH_PARTS} parts, not {path[:80]!r}"
        raise InvalidParam(words, param="source")
    if not path.isprintable() or ":" in path:
        raise InvalidParam(f"{path!r} has characters that not every system takes in a name", param="source")
    if parts[0] == HOST_FOLDER:
        raise InvalidParam(f"{HOST_FOLDER!r} is the host's; rename {path!r}", param="source")
