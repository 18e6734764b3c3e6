"""`toolwire card new`: a folder with a card that works, to begin with; it installs nothing."""

import os
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from toolwire.card.manifest import MANIFEST_NAMES, check_manifest
from toolwire.cli.card.folder import CURRENT
from toolwire.cli.card.program import HEADLESS, SOURCES
from toolwire.cli.failure import DONE, Failed, misused
from toolwire.cli.output import print_json, say
from toolwire.cli.parameters import JsonFlag

SDK_VERSION: Final = "0.1.0"
PASSED_OVER: Final = frozenset({"__pycache__"})
TEMPLATE_SUFFIX: Final = ".in"
"""Of files that would be taken for our own without it."""


def new(
    name: Annotated[str, Parameter(help="The card's name, such as test-radar; also that of its folder.")],
    /,
    *,
    python: Annotated[
        bool, Parameter(negative="", help="A card in Python, which the host runs (the default).")
    ] = False,
    typescript: Annotated[bool, Parameter(negative="", help="A card in TypeScript, which runs on the canvas.")] = False,
    json: JsonFlag = False,
) -> int:
    """Make a folder with a card that works, to begin with: a manifest, the code of one tool, and a page about it.

    With `--json`: `{"folder", "files": […]}`.
    """
    if python and typescript:
        raise misused("give either --python or --typescript")
    made = begin(Path(name), "typescript" if typescript else "python")
    if json:
        print_json({"folder": str(made[0]), "files": [file.as_posix() for file in made[1]]})
    else:
        say(f"made {made[0]} with {', '.join(file.as_posix() for file in made[1])}")
        for step in _steps(made[0], typescript):
            say(f"next: {step}")
    return DONE


def begin(folder: Path, language: str) -> tuple[Path, list[Path]]:
    """Write a card into a folder that is not there yet, or empty; the folder, and its files below it.

    Args:
        folder: its last part is the card's name.
        language: "python" or "typescript".

    Raises:
        Failed: a card cannot have that name, or the folder has something in it.
        OSError: it cannot be written.
    """
    template = dict(_texts(files("toolwire.cli.card") / "templates" / language, CURRENT))
    words = {"name": folder.name, "display_name": folder.name.replace("-", " ").capitalize()}
    words |= {"exposed": folder.name.replace("-", "_"), "sdk": _sdk(folder)}
    filled = {path: _filled(text, words) for path, text in template.items()}
    report = check_manifest(filled[Path(MANIFEST_NAMES[0])].encode())
    if report.errors:
        about = next((one for one in report.errors if one.path == "/name"), report.errors[0])
        raise misused(f"a card cannot be named {folder.name!r}: {about.message}")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Failed(f"{str(folder)!r} is there already; choose another name, or remove it", "conflict")
    for path, text in filled.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return folder, sorted(filled)


def _sdk(folder: Path) -> str:
    """What a card's `package.json` says of `@toolwire/card-sdk`: in a source tree, that which belongs to it."""
    if not SOURCES.is_dir():
        return f"^{SDK_VERSION}"
    return "file:" + Path(os.path.relpath(SOURCES, folder.resolve())).as_posix()


def _steps(folder: Path, typescript: bool) -> Iterator[str]:
    build = "npm install && npm run build"
    if typescript and SOURCES.is_dir() and not (SOURCES / HEADLESS).exists():
        yield f"(cd {os.path.relpath(SOURCES)} && {build})"
    yield f"cd {folder} && {f'{build} && ' if typescript else ''}toolwire card dev"


def _filled(text: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        text = text.replace("{{" + word + "}}", value)
    return text


def _texts(folder: Traversable, below: Path) -> Iterator[tuple[Path, str]]:
    for entry in folder.iterdir():
        if entry.name in PASSED_OVER:
            continue
        if entry.is_dir():
            yield from _texts(entry, below / entry.name)
        else:
            yield below / entry.name.removesuffix(TEMPLATE_SUFFIX), entry.read_text("utf-8")
