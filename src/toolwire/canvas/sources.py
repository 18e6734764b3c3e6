"""Where packages come from: a folder, an archive or a git repository, copied into a folder of the host's and checked.

Nothing of a package runs here, and nothing is built. What is copied is untrusted: paths, sizes and counts are held to
`package_tree`'s limits while it comes in, so that a bomb is noticed before it has filled the disk.
"""

import os
import re
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Final, Literal, TypeAlias

import anyio
import anyio.to_thread
from msgspec import Struct

from toolwire.canvas.package_tree import Budget, files_of
from toolwire.card.manifest import MANIFEST_NAMES
from toolwire.core.errors import Forbidden, InvalidParam, PayloadTooLarge, ServiceTimeout

MAX_ARCHIVE_BYTES: Final = 50 * 1024 * 1024
GIT_TIMEOUT_S: Final = 120.0
_CHUNK_BYTES = 256 * 1024

Kind: TypeAlias = Literal["dir", "archive", "git", "upload"]

_GIT_URL = re.compile(r"(git\+)?(https|ssh|git|file)://\S+|git@[\w.-]+:\S+")
_SHORT = re.compile(r"(?P<repo>\w[\w.-]*/\w[\w.-]*)(?P<folder>/[\w./-]+)?(@(?P<ref>[\w./-]+))?")
_REF = re.compile(r"[A-Za-z0-9][\w./-]{0,200}")
ARCHIVES = (".tar.gz", ".tgz", ".tar", ".zip")


class Source(Struct, frozen=True):
    """Where a package comes from. `identity` names it for ever: two packages of one name are told apart by it.

    `place` is a path, a repository's URL, or the name of a package that was uploaded; `folder` is the package's place
    in it, `ref` a branch, tag or commit.
    """

    kind: Kind
    place: str
    folder: str = ""
    ref: str | None = None

    @property
    def identity(self) -> str:
        """The source without the version in it (decision 10)."""
        return f"{self.kind}:{self.place}{'#' + self.folder if self.folder else ''}"


def read_source(text: str, *, may_read_files: bool) -> Source:
    """What a source as people write it means.

    It is the path of a folder or an archive; a git URL, with `#FOLDER@REF` after it if need be; or
    `OWNER/REPO[/FOLDER][@REF]` of GitHub.

    Args:
        text: as written. A path must be absolute: the host knows no current folder of the asker.
        may_read_files: whether the asker may have files of this machine read.

    Raises:
        InvalidParam: it is none of these, or there is nothing at the path.
        Forbidden: it lies on this machine, and the asker may not have that read.
    """
    wanted = text.strip()
    if _GIT_URL.fullmatch(wanted):
        source = _git_source(wanted)
        if source.place.startswith("file:") and not may_read_files:
            raise Forbidden("only the owner who has set up this host may install from its files")
        return source
    if wanted.startswith("/") or re.match(r"[A-Za-z]:[\\/]", wanted):
        if not may_read_files:
            raise Forbidden("only the owner who has set up this host may install from its files; use a git URL")
        return _local_source(Path(wanted))
    short = _SHORT.fullmatch(wanted)
    if short is not None:
        folder = (short["folder"] or "").strip("/")
        return Source("git", f"https://github.com/{short['repo']}.git", folder, short["ref"])
    raise InvalidParam(
        f"{text!r} is no source: give the absolute path of a folder or an archive, a git URL, or OWNER/REPO",
        param="source",
    )


async def fetch(source: Source, into: Path) -> None:
    """Copy a package into a folder that is not there yet; on any failure nothing of it stays.

    Raises:
        InvalidParam: it has no manifest, or files that cannot be taken.
        PayloadTooLarge: it is too large.
        ServiceTimeout: the repository does not answer.
    """
    try:
        if source.kind == "dir":
            await anyio.to_thread.run_sync(_copy, Path(source.place), into)
        elif source.kind == "archive":
            await anyio.to_thread.run_sync(_unpack, Path(source.place), into)
        else:
            await _clone(source, into)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(lambda: shutil.rmtree(into, ignore_errors=True))
        raise


def find_manifest(folder: Path) -> Path:
    """The manifest of a package.

    Raises:
        InvalidParam: there is none.
    """
    for name in MANIFEST_NAMES:
        if (folder / name).is_file():
            return folder / name
    raise InvalidParam(f"there is no {MANIFEST_NAMES[0]!r} at the top of the package; write one", param="source")


def _local_source(path: Path) -> Source:
    try:
        resolved = path.resolve()
        if resolved.is_dir():
            return Source("dir", str(resolved))
        is_file = resolved.is_file()
    except (OSError, RuntimeError, ValueError) as error:  # too long, links in a circle, or no path at all
        raise InvalidParam(f"{str(path)[:200]!r} cannot be read: {error.args[-1]}", param="source") from None
    if is_file and resolved.name.endswith(ARCHIVES):
        return Source("archive", str(resolved))
    if is_file:
        raise InvalidParam(f"{path.name!r} is no archive; {', '.join(ARCHIVES)} are taken", param="source")
    raise InvalidParam(f"there is nothing at {str(path)!r}", param="source")


def _git_source(text: str) -> Source:
    url, _, rest = text.removeprefix("git+").partition("#")
    folder, separator, ref = rest.partition("@")
    if re.match(r"\w+://[^/@]*@", url) and not url.startswith("ssh://"):
        raise InvalidParam("a URL with a password in it would be kept; use a credential helper of git", param="source")
    if separator and not _REF.fullmatch(ref):
        raise InvalidParam(f"{ref!r} is no branch, tag or commit", param="source")
    return Source("git", url, folder.strip("/"), ref or None)


def _copy(source: Path, into: Path) -> None:
    find_manifest(source)
    if into.resolve().is_relative_to(source.resolve()):  # it would go on into its own copy, with the host's secrets
        raise InvalidParam("the folder has this host's own data in it; give the card's own folder", param="source")
    for file, path in files_of(source):
        target = into / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)


def _unpack(archive: Path, into: Path) -> None:
    if archive.stat().st_size > MAX_ARCHIVE_BYTES:
        raise PayloadTooLarge(f"the archive has more than {MAX_ARCHIVE_BYTES} bytes; leave out what it does not need")
    into.mkdir(parents=True)
    budget = Budget()
    try:
        for name, opened in _members(archive):
            path = budget.admit(name)
            if path is not None:
                _write(opened(), into / path, lambda n, total, path=path: budget.spend(path, n, total))
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, RuntimeError, ValueError) as error:
        raise InvalidParam(f"the archive cannot be unpacked: {error}", param="source") from None
    _lift_only_folder(into)
    find_manifest(into)


def _members(archive: Path) -> Iterator[tuple[str, Callable[[], IO[bytes]]]]:
    """The regular files of an archive; links, devices and folders are passed over."""
    if archive.name.endswith(".zip"):
        with zipfile.ZipFile(archive) as zipped:
            for info in zipped.infolist():
                is_regular = (info.external_attr >> 16) & 0o170000 in (0, 0o100000)
                if not info.is_dir() and is_regular:
                    yield info.filename, lambda info=info: zipped.open(info)
        return
    with tarfile.open(archive, "r:*") as tar:
        for member in tar:
            if member.isreg():
                opened = tar.extractfile(member)
                assert opened is not None
                yield member.name.removeprefix("./"), lambda opened=opened: opened


def _write(source: IO[bytes], target: Path, spend: Callable[[int, int], None]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with source, target.open("xb") as file:
        while chunk := source.read(_CHUNK_BYTES):
            written += len(chunk)
            spend(len(chunk), written)
            file.write(chunk)


def _lift_only_folder(folder: Path) -> None:
    """An archive often has one folder with everything in it; the package is what is inside."""
    held = list(folder.iterdir())
    if len(held) == 1 and held[0].is_dir() and not any((folder / name).is_file() for name in MANIFEST_NAMES):
        for inner in list(held[0].iterdir()):
            inner.rename(folder / inner.name)
        held[0].rmdir()


async def _clone(source: Source, into: Path) -> None:
    cloned = into.with_name(into.name + ".git")
    depth = ("--depth", "1", *(("--branch", source.ref) if source.ref else ()))
    command = ("git", "-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never", "clone", "--quiet",
               "--no-tags", "--single-branch", *depth, "--", source.place, str(cloned))  # fmt: skip
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_SSH_COMMAND": "ssh -oBatchMode=yes"}
    try:
        with anyio.fail_after(GIT_TIMEOUT_S):
            done = await anyio.run_process(command, check=False, env=environment, start_new_session=True)
        if done.returncode != 0:
            reason = done.stderr.decode(errors="replace").strip().splitlines()
            words = f"git could not clone {source.place!r}: {reason[-1] if reason else 'no reason given'}"
            raise InvalidParam(words, param="source")
        package = (cloned / source.folder).resolve()
        if not package.is_relative_to(cloned.resolve()) or not package.is_dir():
            raise InvalidParam(f"there is no folder {source.folder!r} in the repository", param="source")
        await anyio.to_thread.run_sync(_copy, package, into)
    except FileNotFoundError:
        raise InvalidParam(
            "git is not installed here; install it, or give a folder or an archive", param="source"
        ) from None
    except TimeoutError:
        raise ServiceTimeout(f"the repository did not answer within {GIT_TIMEOUT_S:.0f} s; try again") from None
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(lambda: shutil.rmtree(cloned, ignore_errors=True))
