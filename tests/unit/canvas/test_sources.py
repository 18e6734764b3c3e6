"""cards.md §2, "Packages": what is taken from a folder, an archive and a git repository, and what is not."""

import io
import os
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.card.manifests import GOOD, encoded
from toolwire.canvas.package_tree import MAX_FILES, tree_hash
from toolwire.canvas.sources import Source, fetch, find_manifest, read_source
from toolwire.core.errors import Forbidden, InvalidParam, PayloadTooLarge, ToolwireError

MANIFEST = encoded(GOOD)


def package(folder: Path) -> Path:
    (folder / "dist").mkdir(parents=True)
    (folder / "toolwire-card.json").write_bytes(MANIFEST)
    (folder / "dist" / "index.html").write_text("<script type=module src=app.js></script>")
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


async def fetched(source: Source, tmp_path: Path) -> dict[str, bytes]:
    await fetch(source, tmp_path / "into")
    return tree(tmp_path / "into")


async def test_a_folder_is_copied_without_links_and_what_tools_leave_behind(tmp_path: Path) -> None:
    source = package(tmp_path / "radar")
    (source / "node_modules" / "x").mkdir(parents=True)
    (source / "node_modules" / "x" / "a.js").write_text("x")
    (tmp_path / "secret").write_text("s")
    (source / "link").symlink_to(tmp_path / "secret")
    (source / "folder").symlink_to(tmp_path)
    found = read_source(str(source), may_read_files=True)
    assert found.identity == f"dir:{source}"
    assert set(await fetched(found, tmp_path)) == {"toolwire-card.json", "dist/index.html"}


def as_tar(folder: Path, archive: Path, prefix: str = "") -> None:
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder, prefix or ".")


def as_zip(folder: Path, archive: Path, prefix: str = "") -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        for path, data in tree(folder).items():
            zipped.writestr(f"{prefix}/{path}".lstrip("/"), data)


@pytest.mark.parametrize("prefix", ["", "radar-1.2.0"])
@pytest.mark.parametrize(("name", "pack"), [("r.tar.gz", as_tar), ("r.tgz", as_tar), ("r.zip", as_zip)])
async def test_an_archive_is_the_same_package_as_its_folder(
    tmp_path: Path, name: str, pack: Callable[[Path, Path, str], None], prefix: str
) -> None:
    source = package(tmp_path / "radar")
    pack(source, tmp_path / name, prefix)
    await fetch(read_source(str(tmp_path / name), may_read_files=True), tmp_path / "into")
    assert tree_hash(tmp_path / "into") == tree_hash(source)


def repository(folder: Path) -> Path:
    package(folder / "cards" / "radar")
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for command in (("init", "-q", "-b", "main"), ("add", "-A"), (*identity, "commit", "-q", "-m", "x"), ("tag", "v1")):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize("rest", ["#cards/radar", "#cards/radar@v1", "#cards/radar@main"])
async def test_a_folder_of_a_repository_is_cloned(tmp_path: Path, rest: str) -> None:
    repo = repository(tmp_path / "repo")
    source = read_source(f"file://{repo}{rest}", may_read_files=True)
    assert source.identity == f"git:file://{repo}#cards/radar"
    assert set(await fetched(source, tmp_path)) == {"toolwire-card.json", "dist/index.html"}
    assert not (tmp_path / "into.git").exists()


def test_sources_are_read_as_people_write_them() -> None:
    def read(text: str) -> Source:
        return read_source(text, may_read_files=False)

    assert read("ada/cards/radar@v1") == Source("git", "https://github.com/ada/cards.git", "radar", "v1")
    assert read("https://x.example/r.git#a/b@v1") == Source("git", "https://x.example/r.git", "a/b", "v1")
    assert read("git+ssh://git@x.example/r").place == "ssh://git@x.example/r"
    assert read("git@x.example:a/r.git").place == "git@x.example:a/r.git"


@pytest.mark.parametrize(
    "text", ["", "radar", "./radar", "ext::sh -c id", "--upload-pack=x", "/nowhere/at/all", "a b/c"]
)
def test_what_is_no_source_is_refused(text: str) -> None:
    with pytest.raises(InvalidParam):
        read_source(text, may_read_files=True)


def test_a_password_is_not_kept() -> None:
    with pytest.raises(InvalidParam, match="credential helper"):
        read_source("https://me:secret@x.example/r.git", may_read_files=True)


@pytest.mark.parametrize("text", ["/etc", "/etc/passwd", "file:///etc"])
def test_files_of_the_host_are_read_for_its_own_owner_alone(text: str) -> None:
    with pytest.raises(Forbidden):
        read_source(text, may_read_files=False)


def tar_with(archive: Path, *members: tuple[str, bytes]) -> None:
    with tarfile.open(archive, "w:gz") as tar:
        for name, data in (("toolwire-card.json", MANIFEST), *members):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


@pytest.mark.parametrize(
    "name",
    [
        "../out",
        "a/../../out",
        "/etc/x",
        "a\\b",
        "__ns/x",
        "C:x",
        "a/b\n",
        "x" * 241,
        "/".join("a" * 21),
        "DIST",
        "dist",
    ],
)
async def test_an_archives_paths_stay_inside_and_apart(tmp_path: Path, name: str) -> None:
    tar_with(tmp_path / "r.tgz", ("dist", b""), (name, b"x"))
    with pytest.raises(InvalidParam):
        await fetch(Source("archive", str(tmp_path / "r.tgz")), tmp_path / "into")
    assert sorted(os.listdir(tmp_path)) == ["r.tgz"]


async def test_links_and_devices_in_an_archive_are_passed_over(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "r.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo("a"))
        for name, type_ in (("link", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE), ("pipe", tarfile.FIFOTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = type_, "/etc/passwd"
            tar.addfile(info)
        info = tarfile.TarInfo("toolwire-card.json")
        info.size = len(MANIFEST)
        tar.addfile(info, io.BytesIO(MANIFEST))
    assert set(await fetched(Source("archive", str(tmp_path / "r.tar")), tmp_path)) == {"a", "toolwire-card.json"}


@pytest.mark.parametrize("kind", ["tgz", "zip"])
async def test_a_bomb_is_noticed_while_it_unpacks(tmp_path: Path, kind: str) -> None:
    bomb = bytes(25 * 1024 * 1024)
    if kind == "zip":
        with zipfile.ZipFile(tmp_path / "r.zip", "w", zipfile.ZIP_DEFLATED) as zipped:
            zipped.writestr("bomb", bomb)
    else:
        tar_with(tmp_path / "r.tgz", ("bomb", bomb))
    with pytest.raises(PayloadTooLarge):
        await fetch(Source("archive", str(tmp_path / f"r.{kind}")), tmp_path / "into")
    assert not (tmp_path / "into").exists()


async def test_too_many_files_are_refused(tmp_path: Path) -> None:
    tar_with(tmp_path / "r.tgz", *((f"f{number}", b"") for number in range(MAX_FILES)))
    with pytest.raises(PayloadTooLarge, match=str(MAX_FILES)):
        await fetch(Source("archive", str(tmp_path / "r.tgz")), tmp_path / "into")


@pytest.mark.parametrize("data", [b"", b"no archive", b"\x1f\x8b\x08garbage", b"PK\x03\x04garbage"])
@pytest.mark.parametrize("name", ["r.tgz", "r.zip", "r.tar"])
async def test_what_is_no_archive_is_told(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InvalidParam, match=r"cannot be unpacked|no 'toolwire-card"):
        await fetch(Source("archive", str(tmp_path / name)), tmp_path / "into")


@pytest.mark.parametrize("rest", ["", "#nowhere", "#../..", "#cards/radar@gone"])
async def test_a_repository_without_what_was_asked_for_is_told(tmp_path: Path, rest: str) -> None:
    repo = repository(tmp_path / "repo")
    with pytest.raises(ToolwireError):
        await fetch(read_source(f"file://{repo}{rest}", may_read_files=True), tmp_path / "into")
    assert sorted(os.listdir(tmp_path)) == ["repo"]


def test_the_hash_is_of_paths_and_contents_alone(tmp_path: Path) -> None:
    one, two = package(tmp_path / "one"), package(tmp_path / "two")
    os.utime(two / "toolwire-card.json", (1, 1))
    assert tree_hash(one) == tree_hash(two)
    (two / "dist" / "index.html").rename(two / "dist" / "other.html")
    assert tree_hash(one) != tree_hash(two)
    assert find_manifest(one).name == "toolwire-card.json"
