"""Writing a client's file: a copy of the old one, links kept, nothing written that is not needed."""

import json
from pathlib import Path

import pytest

from toolwire.canvas.client_setup import CLIENTS, Entry
from toolwire.cli.connect import Written, write_entry
from toolwire.cli.failure import Failed

WANTED = Entry("toolwire", "http://127.0.0.1:8094/agent_1/toolbox/mcp", "")


def written(path: Path, key: str = "agk_1") -> Written:
    return write_entry(CLIENTS["claude"], path, WANTED, lambda known: known or key)


def test_a_new_file_is_for_its_user_alone(tmp_path: Path):
    made = written(tmp_path / "sub" / "mcp.json")

    assert (made.changed, made.backup, made.entry.key) == (True, None, "agk_1")
    assert (tmp_path / "sub" / "mcp.json").stat().st_mode & 0o777 == 0o600


def test_what_was_there_is_kept_beside_it(tmp_path: Path):
    path = tmp_path / "mcp.json"
    path.write_text('{"mcpServers": {}}')

    made = written(path)

    assert made.backup is not None
    assert made.backup.name == "mcp.json.bak"
    assert made.backup.read_text() == '{"mcpServers": {}}'
    assert list(json.loads(path.read_text())["mcpServers"]) == ["toolwire"]


def test_a_second_time_keeps_the_key_and_writes_nothing(tmp_path: Path):
    path = tmp_path / "mcp.json"
    written(path)
    before = path.read_text()

    again = written(path, "agk_2")

    assert (again.changed, again.backup, again.entry.key) == (False, None, "agk_1")
    assert path.read_text() == before
    assert not (tmp_path / "mcp.json.bak").exists()


def test_a_link_stays_one(tmp_path: Path):
    (tmp_path / "real.json").write_text("{}")
    (tmp_path / "mcp.json").symlink_to("real.json")

    written(tmp_path / "mcp.json")

    assert (tmp_path / "mcp.json").is_symlink()
    assert "toolwire" in (tmp_path / "real.json").read_text()


@pytest.mark.parametrize("data", [b"{", b"\xff\xfe{}"])
def test_a_malformed_file_stays_as_it_is_and_no_key_is_made(tmp_path: Path, data: bytes):
    path = tmp_path / "mcp.json"
    path.write_bytes(data)

    with pytest.raises(Failed, match="nothing was written"):
        write_entry(CLIENTS["claude"], path, WANTED, lambda known: pytest.fail("a key was made"))
    assert path.read_bytes() == data
    assert [each.name for each in tmp_path.iterdir()] == ["mcp.json"]


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path):
    path = tmp_path / "mcp.json"
    path.write_bytes(b"\xef\xbb\xbf{}")
    assert written(path).changed
