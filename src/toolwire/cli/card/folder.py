"""How commands about cards name a card's folder; it reads nothing in it."""

from pathlib import Path
from typing import Annotated, Final, TypeAlias

from cyclopts import Parameter

from toolwire.card.manifest import MANIFEST_NAMES
from toolwire.cli.failure import misused

CURRENT: Final = Path()

FolderArgument: TypeAlias = Annotated[Path, Parameter(help="The card's folder (default: the current one).")]


def card_folder(path: Path) -> Path:
    """The folder that a path means: itself, or the one that a manifest lies in.

    Raises:
        Failed: there is none.
    """
    folder = path.parent if path.name in MANIFEST_NAMES and path.is_file() else path
    if not folder.is_dir():
        raise misused(f"{str(path)!r} is no folder; give the one with {MANIFEST_NAMES[0]} in it")
    return folder
