"""Says for what a host would refuse a package, from its folder as its author has it; it installs nothing."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from toolwire.canvas.package_tree import files_of
from toolwire.canvas.sources import find_manifest
from toolwire.card.manifest import Finding, Manifest, check_manifest
from toolwire.core.errors import InvalidParam, PayloadTooLarge

MAX_ICON_BYTES = 128 * 1024


class Checked(Struct, frozen=True):
    """What there is to say about a folder. `manifest` is `None` where it cannot be used."""

    errors: tuple[Finding, ...]
    warnings: tuple[Finding, ...] = ()
    manifest: Manifest | None = None

    @property
    def ok(self) -> bool:
        """Whether it can be installed."""
        return not self.errors


def check_package(folder: Path) -> Checked:
    """Everything that there is to say about a folder: its manifest, the files that it names, and the limits.

    Raises:
        OSError: a file cannot be read.
    """
    errors: list[Finding] = []
    files: Mapping[str, Path] | None = None
    try:
        files = {path: file for file, path in files_of(folder)}
    except (InvalidParam, PayloadTooLarge) as error:
        errors.append(Finding("", "files_refused", error.message))
    try:
        report = check_manifest(find_manifest(folder).read_bytes())
    except InvalidParam as error:
        return Checked((*errors, Finding("", "manifest_missing", error.message)))
    errors += report.errors
    if report.manifest is not None and files is not None:
        errors += missing_files(files, report.manifest)
    return Checked(tuple(errors), report.warnings, report.manifest)


def missing_files(files: Mapping[str, Path], manifest: Manifest) -> Iterator[Finding]:
    """What a manifest names and the package has not, or not as it must be.

    Args:
        files: the package's files by their paths in it.
        manifest: what names them.
    """
    if manifest.entry not in files:
        words = f"the manifest's entry {manifest.entry!r} is not in the package; build the card first"
        yield Finding("/entry", "file_missing", words)
    icon = manifest.icon
    if icon is None:
        return
    if icon not in files:
        yield Finding("/icon", "file_missing", f"the manifest's icon {icon!r} is not in the package; add it")
    elif files[icon].stat().st_size > MAX_ICON_BYTES:
        words = f"the icon {icon!r} has more than {MAX_ICON_BYTES} bytes; make it smaller"
        yield Finding("/icon", "file_too_large", words)
