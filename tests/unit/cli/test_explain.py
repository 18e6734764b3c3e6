"""`config explain` shows each setting, its value and where that comes from."""

import json
from pathlib import Path

import pytest

from toolwire import config
from toolwire.cli.explain import shown
from toolwire.cli.main import execute


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_setting_is_shown_with_its_origin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "mine.toml").write_text("port = 9000\n")
    monkeypatch.setenv("TOOLWIRE_ALLOWED_HOSTS", "a,b")

    assert execute(["config", "explain", "--config", "mine.toml", "--json"]) == 0

    settings = {each["key"]: each for each in json.loads(capsys.readouterr().out)["settings"]}
    assert list(settings) == list(config.keys())
    assert (settings["port"]["value"], settings["port"]["origin"]) == (9000, "mine.toml, line 1")
    assert (settings["port"]["default"], settings["port"]["variable"]) == (8094, "TOOLWIRE_PORT")
    assert settings["allowed_hosts"]["value"] == ["a", "b"]
    assert settings["host"]["origin"] == "default"


def test_a_pipe_gets_columns_separated_by_tabs(capsys: pytest.CaptureFixture[str]):
    assert execute(["config", "explain"]) == 0

    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["SETTING", "VALUE", "FROM", "WHAT IT IS"]
    assert ["call_timeout_s", "60", "default"] in [line[:3] for line in lines]


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (True, "true"), ((), "[]"), (("a", "b"), "[a, b]"), (86400.0, "86400"), (0.5, "0.5"), (5, "5")],
)
def test_a_value_is_shown_as_it_would_be_written(value: object, text: str):
    assert shown(value) == text
