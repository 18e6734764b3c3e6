"""What an agent remembers; gateway.md §3 (duplicates answered from a journal) and §6 (lost calls)."""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from toolwire.agent.journal import Answer, Answers, Journal, MemoryJournal
from toolwire.agent.journal_file import FileJournal
from toolwire.core.errors import Conflict


def answer(text: str = "done", message_id: str = "msg_answer") -> Answer:
    return Answer(message_id, "agent_reply", {"text": text})


class Clock:
    def __init__(self) -> None:
        self.time = 1_800_000_000.0

    def now(self) -> float:
        return self.time


@pytest.fixture(params=["memory", "file"])
def make_journal(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Journal]:
    if request.param == "memory":
        return MemoryJournal
    return lambda: FileJournal(tmp_path / "folder" / "agent.journal")


async def test_an_answer_is_found_under_its_message(make_journal: Callable[[], Journal]) -> None:
    journal = make_journal()
    assert journal.lookup("msg_1") is None
    await journal.begin("msg_1")
    await journal.finish("msg_1", answer("first"))
    assert journal.lookup("msg_1") == answer("first")
    assert journal.lookup("msg_2") is None
    assert journal.id.startswith("jrn_")
    await journal.close()
    await journal.close()


def test_two_journals_in_memory_are_two_journals() -> None:
    assert MemoryJournal().id != MemoryJournal().id


def test_the_oldest_answers_go_when_there_are_too_many() -> None:
    answers = Answers(max_answers=2)
    for name in ("a", "b", "c"):
        answers.put(name, _encoded(name))
    assert answers.get("a") is None
    assert answers.get("c") == answer("c")
    assert len(answers) == 2


def test_an_answer_is_forgotten_after_its_time() -> None:
    clock = Clock()
    answers = Answers(ttl_s=60, now=clock.now)
    answers.put("a", _encoded("a"))
    clock.time += 59
    assert answers.get("a") == answer("a")
    clock.time += 1
    assert answers.get("a") is None
    answers.put("b", _encoded("b"))
    assert len(answers) == 1


def test_what_comes_after_all_is_forgotten_is_forgotten_after_its_time_too() -> None:
    clock = Clock()
    answers = Answers(ttl_s=60, now=clock.now)
    answers.put("a", _encoded("a"), clock.time - 61)
    assert len(answers) == 0
    answers.put("b", _encoded("b"))
    clock.time += 61
    answers.put("c", _encoded("c"))
    assert [message_id for message_id, _, _ in answers.items()] == ["c"]
    assert answers.total_bytes == len(_encoded("c"))


def test_large_answers_lose_their_text_but_are_not_forgotten() -> None:
    answers = Answers(max_bytes=1500)
    for name in ("a", "b", "c"):
        answers.put(name, _encoded(name * 1000))
    assert answers.get("a") == "begun"
    assert answers.get("b") == "begun"
    assert answers.get("c") == answer("c" * 1000)
    assert 1000 < answers.total_bytes < 1500


def test_answers_without_their_text_are_the_first_to_go_and_may_be_given_again() -> None:
    answers = Answers(max_answers=3, max_bytes=10)
    answers.put("damaged", b"")
    for name in ("a", "b"):
        answers.put(name, _encoded(name))
    assert [(message_id, bool(text)) for message_id, _, text in answers.items()] == [
        ("damaged", False),
        ("a", False),
        ("b", True),
    ]
    answers.put("a", _encoded("again"))
    answers.put("c", _encoded("c"))
    assert [message_id for message_id, _, _ in answers.items()] == ["b", "a", "c"]
    assert answers.total_bytes == len(_encoded("c"))


def test_of_too_many_small_answers_the_oldest_without_text_goes_first() -> None:
    answers = Answers(max_answers=2)
    answers.put("damaged", b"")
    answers.put("a", _encoded("a"))
    answers.put("b", _encoded("b"))
    assert [message_id for message_id, _, _ in answers.items()] == ["a", "b"]


def test_one_answer_above_the_limit_is_kept_while_it_is_the_last() -> None:
    answers = Answers(max_bytes=10)
    answers.put("a", _encoded("a" * 100))
    assert answers.get("a") == answer("a" * 100)


def test_an_answer_given_again_counts_once() -> None:
    answers = Answers()
    answers.put("a", _encoded("long" * 10))
    answers.put("a", _encoded("s"))
    assert answers.total_bytes == len(_encoded("s"))
    assert [message_id for message_id, _, _ in answers.items()] == ["a"]


def test_ten_thousand_answers_are_kept_by_default() -> None:
    answers = Answers()
    for number in range(10_000):
        answers.put(f"msg_{number}", _encoded(str(number)))
    assert answers.get("msg_0") == answer("0")


async def test_a_file_journal_is_the_same_journal_after_a_restart(tmp_path: Path) -> None:
    first = FileJournal(tmp_path / "j")
    await first.begin("msg_done")
    await first.finish("msg_done", answer("kept"))
    await first.begin("msg_open")
    await first.close()

    second = FileJournal(tmp_path / "j")
    assert second.id == first.id
    assert second.lookup("msg_done") == answer("kept")
    assert second.lookup("msg_open") == "begun"
    assert second.lookup("msg_new") is None
    await second.finish("msg_open", answer("told"))
    await second.close()

    third = FileJournal(tmp_path / "j")
    assert third.lookup("msg_open") == answer("told")
    await third.close()


async def test_a_torn_last_line_is_cut_off_and_what_follows_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "j"
    first = FileJournal(path)
    await first.finish("msg_1", answer("one"))
    await first.close()
    with path.open("ab") as file:
        file.write(b'{"line":"ended","message_id":"msg_2","at":18000')

    second = FileJournal(path)
    assert second.id == first.id
    assert second.lookup("msg_1") == answer("one")
    assert second.lookup("msg_2") is None
    await second.finish("msg_3", answer("three"))
    await second.close()
    assert [json.loads(line)["line"] for line in path.read_text().splitlines()] == ["journal", "ended", "ended"]


async def test_a_file_torn_in_its_first_line_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_bytes(b'{"line":"journ')
    journal = FileJournal(path)
    assert journal.id.startswith("jrn_")
    await journal.close()
    assert len(path.read_text().splitlines()) == 1


async def test_a_damaged_line_is_passed_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "j"
    first = FileJournal(path)
    await first.finish("msg_1", answer("one"))
    await first.close()
    with path.open("ab") as file:
        file.write(b"\0\0\0\0\n")
        file.write(b'{"line":"ended","message_id":"msg_x","at":9e9,"answer":{"message_id":7}}\n')
    second = FileJournal(path)
    await second.finish("msg_2", answer("two"))
    await second.close()
    assert "1 damaged lines" in caplog.text

    third = FileJournal(path)
    assert third.lookup("msg_1") == answer("one")
    assert third.lookup("msg_2") == answer("two")
    assert third.lookup("msg_x") == "begun"
    await third.close()


def test_another_kind_of_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes\n")
    with pytest.raises(Conflict, match="not a journal"):
        FileJournal(path)
    assert path.read_text() == "my notes\n"
    path.write_text('{"line":"journal","id":"jrn_x","version":99}\n')
    with pytest.raises(Conflict, match="version 99"):
        FileJournal(path)
    path.write_text('{"line":"begun","message_id":"msg_1","at":1}\n')
    with pytest.raises(Conflict, match="not a journal"):
        FileJournal(path)


async def test_a_second_owner_of_the_file_is_refused(tmp_path: Path) -> None:
    first = FileJournal(tmp_path / "j")
    with pytest.raises(Conflict, match="in use"):
        FileJournal(tmp_path / "j")
    await first.close()
    second = FileJournal(tmp_path / "j")
    assert second.id == first.id
    await second.close()


async def test_what_was_written_together_is_all_there(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "j")

    async def one(number: int) -> None:
        await journal.begin(f"msg_{number}")
        await journal.finish(f"msg_{number}", answer(str(number)))

    async with anyio.create_task_group() as tasks:
        for number in range(200):
            tasks.start_soon(one, number)
    await journal.close()
    again = FileJournal(tmp_path / "j")
    assert [again.lookup(f"msg_{number}") for number in range(200)] == [answer(str(number)) for number in range(200)]
    await again.close()


async def test_a_file_that_is_mostly_out_of_date_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "j"
    journal = FileJournal(path, Answers(max_answers=5), compact_above_bytes=4000)
    for number in range(200):
        await journal.begin(f"msg_{number}")
        await journal.finish(f"msg_{number}", answer(str(number)))
    await journal.begin("msg_open")
    assert path.stat().st_size < 6000
    await journal.close()

    again = FileJournal(path)
    assert again.id == journal.id
    assert again.lookup("msg_199") == answer("199")
    assert again.lookup("msg_open") == "begun"
    assert again.lookup("msg_1") is None
    await again.close()


async def test_what_is_too_old_in_the_file_is_not_read(tmp_path: Path) -> None:
    clock = Clock()
    first = FileJournal(tmp_path / "j", now=clock.now)
    await first.begin("msg_open")
    await first.finish("msg_done", answer())
    await first.close()
    clock.time += 25 * 3600
    second = FileJournal(tmp_path / "j", now=clock.now)
    assert second.lookup("msg_open") is None
    assert second.lookup("msg_done") is None
    await second.close()


async def test_a_full_disk_is_told_and_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "j"
    journal = FileJournal(path)
    write = os.write

    def full(fd: int, data: bytes) -> int:
        write(fd, bytes(data)[:10])
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="no space"):
        await journal.begin("msg_1")
    assert journal.lookup("msg_1") is None
    with pytest.raises(OSError, match="no space"):
        await journal.finish("msg_2", answer("two"))
    assert journal.lookup("msg_2") == answer("two")
    monkeypatch.setattr(os, "write", write)
    await journal.begin("msg_3")
    await journal.close()

    again = FileJournal(path)
    assert [again.lookup(name) for name in ("msg_1", "msg_2", "msg_3")] == [None, None, "begun"]
    await again.close()


def _encoded(text: str) -> bytes:
    return json.dumps({"message_id": "msg_answer", "type": "agent_reply", "payload": {"text": text}}).encode()
