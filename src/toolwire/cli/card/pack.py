"""`toolwire card pack`: a card's folder as one archive, the same bytes each time; it builds nothing."""

import gzip
import io
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from toolwire.canvas.package_check import check_package
from toolwire.canvas.package_tree import files_of, tree_hash
from toolwire.canvas.sources import MAX_ARCHIVE_BYTES
from toolwire.cli.card.folder import CURRENT, FolderArgument, card_folder
from toolwire.cli.card.validate import print_findings
from toolwire.cli.failure import DONE, Failed, misused
from toolwire.cli.output import print_json, print_text, say
from toolwire.cli.parameters import JsonFlag

SUFFIX: Final = ".tar.gz"


def pack(
    path: FolderArgument = CURRENT,
    /,
    *,
    output: Annotated[
        Path | None,
        Parameter(name=["--output", "-o"], help="The archive (default: NAME-VERSION.tar.gz beside the folder)."),
    ] = None,
    dry: Annotated[
        bool, Parameter(name="--dry-run", negative="", help="Write nothing; say what would be in it.")
    ] = False,
    json: JsonFlag = False,
) -> int:
    """Put a card's folder into one archive that `card add` takes. The same files give the same bytes.

    With `--json`: `{"name", "version", "tree_hash", "archive", "files": [{"path", "bytes"}]}`; `archive` is `null` with
    `--dry-run`. `tree_hash` is over all files; whoever installs sees it as the digest.
    """
    folder = card_folder(path).resolve()
    checked = check_package(folder)
    if checked.manifest is None or not checked.ok:
        print_findings(checked)
        raise Failed(f"{str(path)!r} cannot be installed; mend it and pack it again", "invalid_param")
    manifest = checked.manifest
    archive = _place(folder, output, f"{manifest.name}-{manifest.version}{SUFFIX}")
    files = list(files_of(folder))
    if not dry:
        write_archive(files, archive)
    digest = tree_hash(folder)
    if json:
        listed = [{"path": name, "bytes": file.stat().st_size} for file, name in files]
        about = {"name": manifest.name, "version": manifest.version, "tree_hash": digest}
        print_json({**about, "archive": None if dry else str(archive), "files": listed})
    else:
        print_text("\n".join(f"{file.stat().st_size:>10,}  {name}" for file, name in files))
        print_text(f"tree hash  {digest}")
        say(f"nothing was written; it would be {archive}" if dry else f"wrote {archive}")
    return DONE


def write_archive(files: Sequence[tuple[Path, str]], archive: Path) -> None:
    """Write an archive with nothing in it that depends on when, where or by whom it was made.

    Args:
        files: each file and its path in the package.
        archive: the file to write.

    Raises:
        Failed: it is larger than a host takes.
        OSError: a file cannot be read, or the archive cannot be written.
    """
    packed = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for file, name in sorted(files, key=lambda one: one[1]):
            data = file.read_bytes()
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o644
            tar.addfile(info, io.BytesIO(data))
    if packed.tell() > MAX_ARCHIVE_BYTES:
        raise Failed(
            f"the archive has more than {MAX_ARCHIVE_BYTES} bytes; leave out what it does not need", "payload_too_large"
        )
    archive.write_bytes(packed.getvalue())


def _place(folder: Path, output: Path | None, usual: str) -> Path:
    if output is None:
        return folder.parent / usual
    if not output.name.endswith((SUFFIX, ".tgz")):
        raise misused(f"-o names the archive, such as {usual!r}, not {str(output)!r}")
    if output.resolve().is_relative_to(folder):
        raise misused(
            f"{str(output)!r} lies in the card's folder and would be part of the next package; write it elsewhere"
        )
    return output.resolve()
