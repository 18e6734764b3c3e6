"""The package as authors get it: what is in it, that code compiles and is tested against it, that pages are true."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.card_sdk.package import SOURCES, Built, built
from tests.node_packages import ROOT

PAGES = ROOT / "docs_src" / "cards_in_typescript"
SEED = ROOT / "packages" / "card-sdk" / "tests" / "seed"


@pytest.fixture
def author(tmp_path: Path) -> Path:
    """A folder of an author's, who has installed the package and what tests need."""
    package, modules = built(), tmp_path / "node_modules"
    modules.mkdir()
    for found in (package.folder / "node_modules").iterdir():
        (modules / found.name).symlink_to(found.resolve())
    scope = modules / "@toolwire"
    scope.mkdir()
    (scope / "card-sdk").symlink_to(package.folder)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    return tmp_path


def strict(folder: Path, package: Built, **options: object) -> None:
    """Compile all of a folder in strict mode, with the package's own declarations."""
    base = json.loads((PAGES / "tsconfig.json").read_text())
    base["compilerOptions"] |= {"skipLibCheck": False, "types": ["node"], **options}
    (folder / "tsconfig.json").write_text(json.dumps(base))
    package.tool("tsc", "-p", ".", cwd=folder)


@pytest.mark.parametrize("module", ["NodeNext", "ESNext"])
def test_the_page_s_snippets_compile_in_strict_mode_against_the_published_types(author: Path, module: str):
    """Word for word but for the import, with Node's way to find modules and with that of bundlers."""
    shutil.copytree(SEED, author, dirs_exist_ok=True)
    resolution = {"NodeNext": "NodeNext", "ESNext": "Bundler"}[module]
    strict(author, built(), module=module, moduleResolution=resolution)


def test_the_code_of_our_pages_compiles_and_its_tests_pass(author: Path):
    shutil.copytree(PAGES, author, dirs_exist_ok=True)
    strict(author, built(), exactOptionalPropertyTypes=True, noUncheckedIndexedAccess=True)
    report = json.loads(built().tool("vitest", "run", "--reporter=json", cwd=author))
    assert (report["success"], report["numPassedTests"]) == (True, 2)


def test_every_entry_loads_in_plain_node(author: Path):
    script = """
      const names = ["", "/react", "/testing", "/headless"];
      const loaded = await Promise.all(names.map((name) => import("@toolwire/card-sdk" + name)));
      console.log(JSON.stringify(loaded.map((module) => Object.keys(module).sort())));
    """
    (author / "load.mjs").write_text(script)
    done = subprocess.run([built().node, "load.mjs"], cwd=author, capture_output=True, text=True, check=True)
    main, react, testing, headless = json.loads(done.stdout)
    assert {"card", "connect", "isCardSdkError", "toolError", "toolImage", "toolResult", "toolText"} <= set(main)
    assert react == ["CardProvider", "useCard", "useTool"]
    assert testing == ["MockHost", "createMockHost"]
    assert headless == ["runHeadless"]


def test_what_is_published_is_what_runs_and_nothing_else():
    package = built()
    command = [str(package.node.with_name("npm")), "pack", "--dry-run", "--json", "--ignore-scripts"]
    environment = package.installed.environment()
    done = subprocess.run(command, cwd=package.folder, env=environment, capture_output=True, text=True, check=True)
    (packed,) = json.loads(done.stdout)
    files = {file["path"] for file in packed["files"]}
    assert {"README.md", "package.json", "dist/index.js", "dist/index.d.ts", "dist/headless.js"} <= files
    assert all(file.startswith("dist/") for file in files - {"LICENSE", "README.md", "package.json"})
    assert (package.folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_package_tells_hosts_the_version_that_it_has():
    version = json.loads((SOURCES / "package.json").read_text())["version"]
    assert f"toolwire-card-sdk/{version}" in (SOURCES / "src" / "version.ts").read_text()
