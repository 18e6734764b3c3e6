"""Reads the manifest of a card under test, from wherever a test has it; it checks nothing beside `read_manifest`."""

from pathlib import Path
from typing import TypeAlias

import msgspec

from toolwire.card.manifest import MANIFEST_NAMES, Manifest, read_manifest
from toolwire.core.jsontypes import JsonObject

ManifestSource: TypeAlias = "Manifest | JsonObject | Path | str"
"""A manifest: as it was read, as the object that it is, or the path of its file or of its folder."""


def manifest_from(source: ManifestSource) -> Manifest:
    """The manifest of a source.

    Raises:
        InvalidParam: it cannot be used.
        OSError: there is no such file.
    """
    if isinstance(source, Manifest):
        return source
    if isinstance(source, dict):
        return read_manifest(msgspec.json.encode(source))
    path = Path(source)
    if path.is_dir():
        known = (path / name for name in MANIFEST_NAMES)
        path = next((one for one in known if one.is_file()), path / MANIFEST_NAMES[0])
    return read_manifest(path.read_bytes())
