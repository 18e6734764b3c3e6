"""Build the page of the canvas from web/ into src/toolwire/page, unless it is there as the sources are now.

It is quiet unless it builds or fails. What npm installs stays in web/node_modules; without changes nothing is fetched.

    python scripts/build_web.py           build what has changed
    python scripts/build_web.py check     types, lint and format of web/
    python scripts/build_web.py test      its own tests (what follows is passed on to Vitest)
"""

import contextlib
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scripts.node import NoNodeError, environment, find_node  # noqa: E402 - a script finds its neighbours like that

WEB: Final = ROOT / "web"
PAGE: Final = ROOT / "src" / "toolwire" / "page"
CACHE: Final = ROOT / ".cache" / "web"
STAMP: Final = ".made-of"
PACKAGE: Final = ("package.json", "package-lock.json", ".npmrc")
NO_SOURCES: Final = ("node_modules", "dist", ".vite")


class BuildError(Exception):
    """The page could not be built; the text is what the tool said."""


def main(arguments: Sequence[str]) -> int:
    """Do what the words say; the exit code."""
    try:
        if not arguments:
            build()
        elif arguments[0] == "check":
            run("tsc", "-p", "tsconfig.json")
            run("biome", "check", "--error-on-warnings", "src", "vite.config.ts")
        elif arguments[0] == "test":
            run("vitest", "run", *arguments[1:])
        else:
            print(f"{arguments[0]!r} is nothing this can do; see its first lines", file=sys.stderr)
            return 2
    except (BuildError, NoNodeError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def build() -> Path:
    """The folder of the page, as the sources are now.

    Raises:
        BuildError: npm or Vite has failed.
        NoNodeError: there is no Node.
    """
    digest = digest_of(sources())
    if _made_of(PAGE) == digest:
        return PAGE
    with _alone():
        if _made_of(PAGE) == digest:
            return PAGE
        print("building the page of the canvas ...", file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="new-", dir=CACHE) as folder:
            made = Path(folder) / "page"
            run("vite", "build", "--outDir", str(made), "--emptyOutDir", "--logLevel", "error")
            compress(made)
            (made / STAMP).write_text(digest, "ascii")
            if PAGE.exists():
                PAGE.rename(Path(folder) / "old")
            made.rename(PAGE)
    return PAGE


def run(tool: str, *arguments: str) -> str:
    """Run a program of web/node_modules, installed first where the lock file says otherwise; what it said.

    Raises:
        BuildError: it has failed.
        NoNodeError: there is no Node.
    """
    node = find_node()
    _install(node)
    program = (WEB / "node_modules" / ".bin" / tool).resolve()
    return _output([str(node), str(program), *arguments], node)


def compress(folder: Path) -> None:
    """Put compressed copies beside the assets, where they are smaller."""
    assets = sorted(path for path in (folder / "assets").iterdir() if path.suffix in (".js", ".css", ".svg", ".json"))
    node = find_node()
    _output([str(node), str(ROOT / "scripts" / "compress.mjs"), *map(str, assets)], node)


def sources() -> list[Path]:
    """All that the page is made of."""
    found = [ROOT / "scripts" / name for name in ("build_web.py", "compress.mjs")]
    found.append(ROOT / "packages" / "card-sdk" / "src" / "protocol.ts")
    for folder, folders, files in os.walk(WEB):
        folders[:] = [name for name in folders if name not in NO_SOURCES]
        found += [Path(folder) / name for name in files]
    return sorted(found)


def digest_of(files: Sequence[Path]) -> str:
    """A hash over names and contents of files of this repository; tests of the page are none of its sources."""
    found = hashlib.sha256()
    for path in files:
        if ".test." not in path.name:
            found.update(f"{path.relative_to(ROOT).as_posix()}\n".encode())
            found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def _made_of(folder: Path) -> str:
    try:
        return (folder / STAMP).read_text("ascii")
    except OSError:
        return ""


def _install(node: Path) -> None:
    wanted = digest_of([WEB / name for name in PACKAGE])
    modules = WEB / "node_modules"
    if _made_of(modules) == wanted:
        return
    with _alone("install"):
        if _made_of(modules) == wanted:
            return
        print("installing what the page is made with ...", file=sys.stderr)
        flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
        _output([str(node.with_name("npm")), "ci", *flags], node)
        (modules / STAMP).write_text(wanted, "ascii")


def _output(command: Sequence[str], node: Path) -> str:
    done = subprocess.run(command, cwd=WEB, env=environment(node), capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"{Path(command[1]).name} has failed:\n{done.stdout}{done.stderr}")
    return done.stdout


@contextlib.contextmanager
def _alone(name: str = "build") -> Generator[None]:
    """Nobody else builds here meanwhile, where the system has locks for that."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as lock:
        if os.name == "posix":
            import fcntl  # noqa: PLC0415 - there is none elsewhere

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
