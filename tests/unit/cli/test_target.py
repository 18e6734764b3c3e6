"""Which host a command talks to, and by which key."""

from pathlib import Path

import msgspec
import pytest

from toolwire.cli.data_folder import HostInfo, write_private
from toolwire.cli.failure import Failed
from toolwire.cli.parameters import HostFlags
from toolwire.cli.target import Target, data_folder, optional_key, target_of

HERE = HostFlags()
URL = "http://127.0.0.1:8094"


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_a_host(data: Path) -> None:
    data.mkdir()
    write_private(data / "owner.key", b"oag_here\n")
    write_private(data / "host.json", msgspec.json.encode(HostInfo(URL, 1, str(data / "owner.key"))))


def test_the_host_of_the_data_folder_is_asked_by_its_owners_key(tmp_path: Path):
    run_a_host(tmp_path / ".toolwire")
    assert target_of(HERE) == Target(URL, "oag_here")


def test_the_data_folder_is_the_flags_else_the_variables_else_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "toolwire.toml").write_text('data = "from-file"\n')
    assert data_folder(None).path == Path("from-file")
    monkeypatch.setenv("TOOLWIRE_DATA", "from-variable")
    assert data_folder(None).path == Path("from-variable")
    assert data_folder(Path("from-flag")).path == Path("from-flag")


def test_a_flag_wins_over_a_variable_and_a_variable_over_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run_a_host(tmp_path / ".toolwire")
    monkeypatch.setenv("TOOLWIRE_URL", "https://elsewhere.example/")
    monkeypatch.setenv("TOOLWIRE_KEY", "oag_variable")

    assert target_of(HERE) == Target("https://elsewhere.example", "oag_variable")
    assert target_of(HostFlags(url="http://flag", key="bak_flag")) == Target("http://flag", "bak_flag")


def test_the_owners_key_is_not_sent_to_another_host(tmp_path: Path):
    run_a_host(tmp_path / ".toolwire")

    assert optional_key(HostFlags(url="https://elsewhere.example")) is None
    assert optional_key(HostFlags(url=f"{URL}/agent_demo/mcp")) == "oag_here"
    assert optional_key(HostFlags(url="https://elsewhere.example", data=Path(".toolwire"))) == "oag_here"
    with pytest.raises(Failed, match="no key to ask with; pass --key, or set TOOLWIRE_KEY"):
        target_of(HostFlags(url="https://elsewhere.example"))


def test_a_target_does_not_show_its_key():
    assert "0123456789" not in repr(Target(URL, "oag_01234567890123456789"))
