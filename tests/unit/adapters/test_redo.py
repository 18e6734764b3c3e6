"""The redo log's file: what was appended is read back, whole and in order, whatever became of its end."""

from pathlib import Path

import pytest

from toolwire.adapters.redo import CAPACITY, SUFFIXES, RedoLog, new_generation
from toolwire.core.ports import Ack, Append, Del, Drop, Enqueue, Nack, Op, Put

GENERATION = new_generation()
GROUPS: list[tuple[float, list[list[Op]]]] = [
    (1000.0, [[Put("call", "ann", "k", b"\x00\xff"), Del("call", "", "é")]]),
    (1000.5, [[Append("s", b"a", seq=7)], [Drop("t"), Put("claim", "", "c", b"", 0, 1010.25)]]),
    (1001.0, [[Enqueue("q", "w", 5.0, b"body"), Ack("q", "x"), Nack("q", "y", 6.0)]]),
]


def read_log(database: Path, generation: int = GENERATION) -> tuple[RedoLog, list[tuple[float, list[list[Op]]]]]:
    """A log of a database of that generation, and what it holds for it."""
    log = RedoLog(database)
    return log, list(log.read(generation))


def log_of(database: Path, generation: int = GENERATION) -> RedoLog:
    return read_log(database, generation)[0]


def held_by(database: Path, generation: int = GENERATION) -> list[tuple[float, list[list[Op]]]]:
    return read_log(database, generation)[1]


def append_all(log: RedoLog, groups: list[tuple[float, list[list[Op]]]] = GROUPS) -> list[int]:
    """Append groups; says where each one ends."""
    ends: list[int] = []
    for now, transactions in groups:
        log.append(log.record_of(now, transactions))
        ends.append(log.size)
    return ends


def test_groups_are_read_back_as_they_were(tmp_path: Path):
    append_all(log_of(tmp_path / "store.db"))

    assert held_by(tmp_path / "store.db") == GROUPS


def test_there_is_nothing_in_a_log_that_was_never_written(tmp_path: Path):
    assert held_by(tmp_path / "store.db") == []


def test_wherever_the_file_ends_the_whole_groups_before_are_read_and_no_part_of_one(tmp_path: Path):
    ends = append_all(log_of(tmp_path / "store.db"))
    file = tmp_path / f"store.db{SUFFIXES[0]}"
    content = file.read_bytes()

    for length in range(len(content) + 1):
        file.write_bytes(content[:length])
        whole = sum(end <= length for end in ends)
        log, held = read_log(tmp_path / "store.db")
        assert held == GROUPS[:whole]
        assert log.size == ([0, *ends][whole])


def test_whichever_byte_is_damaged_only_the_groups_before_it_are_read(tmp_path: Path):
    ends = append_all(log_of(tmp_path / "store.db"))
    file = tmp_path / f"store.db{SUFFIXES[0]}"
    content = file.read_bytes()

    for place in range(len(content)):
        file.write_bytes(content[:place] + bytes([content[place] ^ 0x41]) + content[place + 1 :])
        whole = sum(end <= place for end in ends)
        assert held_by(tmp_path / "store.db") == GROUPS[:whole]


def test_groups_are_appended_behind_those_that_were_read(tmp_path: Path):
    append_all(log_of(tmp_path / "store.db"), GROUPS[:2])
    log, held = read_log(tmp_path / "store.db")
    assert held == GROUPS[:2]

    append_all(log, GROUPS[2:])

    assert held_by(tmp_path / "store.db") == GROUPS


def test_sections_that_follow_the_databases_state_count_and_no_others(tmp_path: Path):
    database, (second, third, fourth) = tmp_path / "store.db", [new_generation() for _ in range(3)]
    log = log_of(database)
    append_all(log, GROUPS[:1])
    log.begin(second)
    append_all(log, GROUPS[1:2])
    assert held_by(database) == GROUPS[:2]
    assert held_by(database, second) == GROUPS[1:2]
    assert held_by(database, third) == []

    log.begin(third)
    append_all(log, GROUPS[2:])
    assert held_by(database) == []
    assert held_by(database, second) == GROUPS[1:]
    assert held_by(database, third) == GROUPS[2:]
    assert held_by(database, fourth) == []


def test_a_log_of_two_sections_is_gone_on_with_in_the_later_one(tmp_path: Path):
    database, later = tmp_path / "store.db", new_generation()
    log = log_of(database)
    append_all(log, GROUPS[:1])
    log.begin(later)
    append_all(log, GROUPS[1:2])

    again, held = read_log(database)
    assert held == GROUPS[:2]
    append_all(again, GROUPS[2:])

    assert held_by(database) == GROUPS
    assert held_by(database, later) == GROUPS[1:]


def test_a_shorter_section_ends_where_it_ends(tmp_path: Path):
    database, (second, third) = tmp_path / "store.db", [new_generation() for _ in range(2)]
    log = log_of(database)
    append_all(log)
    log.begin(second)
    log.begin(third)
    append_all(log, GROUPS[:1])

    assert held_by(database, third) == GROUPS[:1]


def test_it_says_when_it_is_full(tmp_path: Path):
    log = log_of(tmp_path / "store.db")
    record = log.record_of(1.0, [[Put("call", "", "k", b"x" * (CAPACITY // 2))]])
    assert log.has_room(record)
    log.append(record)

    assert not log.has_room(record)
    assert (tmp_path / f"store.db{SUFFIXES[0]}").stat().st_size <= CAPACITY


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
