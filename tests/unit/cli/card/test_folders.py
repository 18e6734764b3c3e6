"""`card new`, `card validate` and `card pack`: what an author does before a host is asked."""

import json
import tarfile
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.unit.card.manifests import encoded, manifest, with_schema
from toolwire.canvas.package_tree import tree_hash
from toolwire.canvas.sources import fetch, read_source
from toolwire.cli.card import new
from toolwire.cli.card.program import SOURCES
from toolwire.cli.main import execute


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *tokens: str) -> tuple[int, Any]:
    """A command's exit code and the one line that it prints with `--json`."""
    code = execute([*tokens, "--json"])
    return code, json.loads(capsys.readouterr().out)


def card(folder: Path, declared: dict[str, Any]) -> Path:
    (folder / "dist").mkdir(parents=True)
    (folder / "dist" / "index.html").write_text("<p>card</p>")
    (folder / "toolwire-card.json").write_bytes(encoded(declared))
    return folder


@pytest.mark.parametrize(
    ("flags", "code"), [((), "main.py"), (("--python",), "main.py"), (("--typescript",), "src/main.ts")]
)
def test_a_new_card_can_be_installed_as_it_is(flags: tuple[str, ...], code: str, capsys: pytest.CaptureFixture[str]):
    done, made = told(capsys, "card", "new", "word-counter", *flags)

    assert done == 0
    assert {"toolwire-card.json", "README.md", code} <= set(made["files"])
    done, checked = told(capsys, "card", "validate", "word-counter")
    assert (done, checked["errors"], [each["code"] for each in checked["warnings"]]) == (0, [], ["author_missing"])
    assert "{{" not in "".join(Path("word-counter", file).read_text() for file in made["files"])


@pytest.mark.parametrize(
    ("name", "code", "problem"),
    [
        ("Word", 2, "a card cannot be named 'Word'"),
        ("telegram", 2, "'telegram' belongs to a built-in family of tools"),
        ("a--b", 2, "two underscores in a row"),
        ("taken", 3, "'taken' is there already"),
    ],
)
def test_a_new_card_needs_a_name_that_is_free(name: str, code: int, problem: str, capsys: pytest.CaptureFixture[str]):
    """cards.md 22-24."""
    card(Path("taken"), manifest())

    assert execute(["card", "new", name]) == code
    assert problem in capsys.readouterr().err
    assert not Path(name).exists() or name == "taken"


@pytest.mark.parametrize("in_sources", [True, False])
def test_a_new_web_card_depends_on_the_package_of_the_source_tree_if_there_is_one(
    in_sources: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    sources = tmp_path / "tree" / "packages" / "card-sdk"
    if in_sources:
        sources.mkdir(parents=True)
    monkeypatch.setattr(new, "SOURCES", sources)

    assert execute(["card", "new", "cards/word-counter", "--typescript"]) == 0

    package = json.loads(Path("cards/word-counter/package.json").read_text())
    wanted = "file:../../tree/packages/card-sdk" if in_sources else "^0.1.0"
    assert package["dependencies"] == {"@toolwire/card-sdk": wanted}
    assert ("next: (cd tree/packages/card-sdk && npm install" in capsys.readouterr().err) is in_sources


def test_the_version_that_new_cards_ask_for_is_that_of_the_package():
    package = json.loads((SOURCES / "package.json").read_text())
    assert package["version"] == new.SDK_VERSION


def test_a_new_card_is_in_one_language(capsys: pytest.CaptureFixture[str]):
    assert execute(["card", "new", "x-y", "--python", "--typescript"]) == 2
    assert "give either --python or --typescript" in capsys.readouterr().err


def test_every_finding_says_where_it_is_and_how_to_mend_it(capsys: pytest.CaptureFixture[str]):
    card(Path("bad"), with_schema(properties={"card": {"type": "string", "pattern": "a+"}}))

    code, checked = told(capsys, "card", "validate", "bad")

    assert (code, checked["ok"], checked["warnings"]) == (1, False, [])
    assert {finding["path"] for finding in checked["errors"]} == {
        "/tools/0/inputSchema/properties/card",
        "/tools/0/inputSchema/properties/card/pattern",
    }
    assert all(set(finding) == {"path", "code", "message"} for finding in checked["errors"])
    assert execute(["card", "validate", "bad/toolwire-card.json"]) == 1
    assert "error /tools/0/inputSchema/properties/card [schema_not_supported]: " in capsys.readouterr().err


def test_files_that_a_manifest_names_must_be_there(capsys: pytest.CaptureFixture[str]):
    folder = card(Path("bad"), manifest(entry="dist/main.html", icon="icon.png"))
    code, checked = told(capsys, "card", "validate", "bad")
    assert (code, [(finding["path"], finding["code"]) for finding in checked["errors"]]) == (
        1,
        [("/entry", "file_missing"), ("/icon", "file_missing")],
    )

    (folder / "dist" / "main.html").symlink_to("index.html")
    (folder / "icon.png").write_bytes(b"x" * (128 * 1024 + 1))
    _, checked = told(capsys, "card", "validate", "bad")
    assert [finding["code"] for finding in checked["errors"]] == ["file_missing", "file_too_large"]


def test_a_folder_that_is_no_package_is_told_so(capsys: pytest.CaptureFixture[str]):
    Path("empty").mkdir()
    code, checked = told(capsys, "card", "validate", "empty")
    assert (code, checked["errors"][0]["code"]) == (1, "manifest_missing")
    assert execute(["card", "validate", "nowhere"]) == 2
    assert "'nowhere' is no folder" in capsys.readouterr().err

    folder = card(Path("twice"), manifest())
    (folder / "A.txt").write_text("1")
    (folder / "a.txt").write_text("2")
    code, checked = told(capsys, "card", "validate", "twice")
    assert (code, checked["errors"][0]["code"]) == (1, "files_refused")


def test_a_packed_card_is_the_same_bytes_and_installs_as_its_folder(capsys: pytest.CaptureFixture[str]):
    folder = card(Path("radar"), manifest())
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "big.js").write_text("not part of it")

    code, packed = told(capsys, "card", "pack", "radar")
    first = Path(packed["archive"]).read_bytes()
    (folder / "dist" / "index.html").touch()
    again = told(capsys, "card", "pack", "radar", "-o", "other.tgz")[1]

    assert (code, Path(packed["archive"]).name) == (0, "test-radar-1.2.0.tar.gz")
    assert Path(again["archive"]).read_bytes() == first
    assert [file["path"] for file in packed["files"]] == ["toolwire-card.json", "dist/index.html"]
    with tarfile.open(packed["archive"]) as tar:
        assert {(info.mtime, info.uid, info.uname, info.mode) for info in tar} == {(0, 0, "", 0o644)}
    anyio.run(fetch, read_source(packed["archive"], may_read_files=True), Path("unpacked"))
    assert tree_hash(Path("unpacked")) == tree_hash(folder) == packed["tree_hash"]


def test_a_dry_pack_writes_nothing_and_lists_what_it_would(capsys: pytest.CaptureFixture[str]):
    card(Path("radar"), manifest())

    code, packed = told(capsys, "card", "pack", "radar", "--dry-run")

    assert (code, packed["archive"], len(packed["files"])) == (0, None, 2)
    assert not Path("test-radar-1.2.0.tar.gz").exists()
    assert execute(["card", "pack", "radar", "--dry-run"]) == 0
    printed = capsys.readouterr()
    assert f"tree hash  {packed['tree_hash']}" in printed.out
    assert "nothing was written; it would be" in printed.err


def test_what_cannot_be_installed_is_not_packed(capsys: pytest.CaptureFixture[str]):
    card(Path("bad"), manifest(name="telegram"))
    assert execute(["card", "pack", "bad"]) == 3
    assert "error /name [reserved_name]" in capsys.readouterr().err


def test_an_archive_does_not_become_part_of_the_next_one(capsys: pytest.CaptureFixture[str]):
    card(Path("radar"), manifest())
    assert execute(["card", "pack", "radar", "-o", "radar/radar.tar.gz"]) == 2
    assert "would be part of the next package" in capsys.readouterr().err
    assert execute(["card", "pack", "radar", "-o", "radar.zip"]) == 2


def test_a_manifests_words_do_not_move_the_cursor(capsys: pytest.CaptureFixture[str]):
    card(Path("bad"), with_schema(properties={"a\u001b[2J": {"pattern": "x"}}))
    assert execute(["card", "validate", "bad"]) == 1
    assert "\x1b" not in capsys.readouterr().err
