"""The redo log's file: what was appended is read back, whole and in order, whatever became of its end."""

from pathlib import Path

import pytest

from toolwire.adapters.redo import CAPACITY, SUFFIX, RedoLog, new_generation
from toolwire.core.ports import Ack, Append, Del, Drop, Enqueue, Nack, Op, Put

GENERATION = new_generation()
GROUPS: list[tuple[float, list[list[Op]]]] = [
    (1000.0, [[Put("call", "ann", "k", b"\x00\xff"), Del("call", "", "é")]]),
    (1000.5, [[Append("s", b"a", seq=7)], [Drop("t"), Put("claim", "", "c", b"", 0, 1010.25)]]),
    (1001.0, [[Enqueue("q", "w", 5.0, b"body"), Ack("q", "x"), Nack("q", "y", 6.0)]]),
]


def log_of(database: Path, generation: int = GENERATION) -> RedoLog:
    log = RedoLog(database)
    log.begin(generation)
    return log


def append_all(log: RedoLog, groups: list[tuple[float, list[list[Op]]]] = GROUPS) -> list[int]:
    """Append groups; says where each one ends."""
    ends: list[int] = []
    for now, transactions in groups:
        log.append(log.record_of(now, transactions))
        ends.append(log.size)
    return ends


def test_groups_are_read_back_as_they_were(tmp_path: Path):
    append_all(log_of(tmp_path / "store.db"))

    assert list(log_of(tmp_path / "store.db").read()) == GROUPS


def test_there_is_nothing_in_a_log_that_was_never_written(tmp_path: Path):
    assert list(log_of(tmp_path / "store.db").read()) == []


def test_wherever_the_file_ends_the_whole_groups_before_are_read_and_no_part_of_one(tmp_path: Path):
    ends = append_all(log_of(tmp_path / "store.db"))
    file = tmp_path / f"store.db{SUFFIX}"
    content = file.read_bytes()

    for length in range(len(content) + 1):
        file.write_bytes(content[:length])
        whole = sum(end <= length for end in ends)
        log = log_of(tmp_path / "store.db")
        assert list(log.read()) == GROUPS[:whole]
        assert log.size == ([0, *ends][whole])


def test_whichever_byte_is_damaged_only_the_groups_before_it_are_read(tmp_path: Path):
    ends = append_all(log_of(tmp_path / "store.db"))
    file = tmp_path / f"store.db{SUFFIX}"
    content = file.read_bytes()

    for place in range(len(content)):
        file.write_bytes(content[:place] + bytes([content[place] ^ 0x41]) + content[place + 1 :])
        whole = sum(end <= place for end in ends)
        assert list(log_of(tmp_path / "store.db").read()) == GROUPS[:whole]


def test_groups_are_appended_behind_those_that_were_read(tmp_path: Path):
    append_all(log_of(tmp_path / "store.db"), GROUPS[:2])
    log = log_of(tmp_path / "store.db")
    assert list(log.read()) == GROUPS[:2]

    append_all(log, GROUPS[2:])

    assert list(log_of(tmp_path / "store.db").read()) == GROUPS


def test_groups_of_another_generation_do_not_count_even_behind_those_of_this_one(tmp_path: Path):
    log = log_of(tmp_path / "store.db")
    append_all(log)
    later = new_generation()
    log.begin(later)
    assert list(log_of(tmp_path / "store.db", later).read()) == []

    append_all(log, GROUPS[:1])

    assert list(log_of(tmp_path / "store.db", later).read()) == GROUPS[:1]
    assert list(log_of(tmp_path / "store.db").read()) == []


def test_it_says_when_it_is_full(tmp_path: Path):
    log = log_of(tmp_path / "store.db")
    record = log.record_of(1.0, [[Put("call", "", "k", b"x" * (CAPACITY // 2))]])
    assert log.has_room(record)
    log.append(record)

    assert not log.has_room(record)
    assert (tmp_path / f"store.db{SUFFIX}").stat().st_size <= CAPACITY


def test_a_removed_log_leaves_no_file(tmp_path: Path):
    log = log_of(tmp_path / "store.db")
    log.remove()
    append_all(log)
    log.remove()

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("op", [Put("call", "", "\ud800", b""), Append("s", b"", seq=2**70)])
def test_what_cannot_be_encoded_is_not_logged(tmp_path: Path, op: Op):
    with pytest.raises(ValueError, match=r"."):
        log_of(tmp_path / "store.db").record_of(1.0, [[op]])
