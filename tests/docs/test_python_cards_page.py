"""docs/how-to/{cards-in-python,testing-cards}.md: each snippet does what its page says."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from docs_src.cards_in_python.main import card
from docs_src.testing_cards import tutorial001, tutorial002
from tests.docs.pages import ROOT, blocks, read
from toolwire.canvas.card_pace import BURST, RATE
from toolwire.canvas.card_processes import QUICK_S, REST_S
from toolwire.canvas.card_storage import MAX_BYTES, MAX_VALUE_BYTES
from toolwire.card import card as card_module
from toolwire.card.manifest import check_manifest
from toolwire.testing import MockHost, text_of

FOLDER = ROOT / "docs_src" / "cards_in_python"
PAGE = "docs/how-to/cards-in-python.md"


@pytest.mark.parametrize(
    "test",
    [
        tutorial001.test_the_checks_run_in_the_connected_terminal,
        tutorial001.test_notes_are_deleted_with_the_users_leave_alone,
        tutorial002.test_a_store_that_fails_is_told_to_the_agent,
        tutorial002.test_checks_that_hang_end_with_the_calls_time_or_with_its_agents_patience,
    ],
)
async def test_the_tests_of_the_page_pass(test: Callable[[], Awaitable[None]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    await test()


async def test_a_plain_function_answers_in_a_thread(tmp_path: Path) -> None:
    (tmp_path / "small").write_text("x")
    (tmp_path / "large").write_text("x" * 100)
    async with MockHost(FOLDER).connected(card) as host:
        result = text_of(await host.call_tool("largest_files", {"folder": str(tmp_path)}))
    assert re.findall(r"(\d+) \S+/(\w+)", result) == [("100", "large"), ("1", "small")]


async def test_without_a_terminal_the_agent_reads_what_to_do() -> None:
    async with MockHost(FOLDER).connected(card) as host:
        result = await host.call_tool("run_checks", {"area": "code"})
    assert (text_of(result), result.is_error) == ("Ask the user to connect a terminal to the Release desk card.", True)


def test_the_manifest_of_the_page_is_a_good_one() -> None:
    (shown,) = [block for block in blocks(read(PAGE)) if block.language == "json"]
    report = check_manifest(shown.text.encode())
    assert (report.errors, report.warnings) == ((), ())


def test_the_page_has_the_numbers_and_names_of_the_code() -> None:
    page = read(PAGE)
    rests = ", ".join(f"{rest_s:g}" for rest_s in REST_S[1:-1])
    numbers = (
        f"{RATE:g} requests a second, {BURST:g} at once",
        f"{MAX_VALUE_BYTES // 2**20} MiB a value, {MAX_BYTES['instance'] // 2**20} MiB in all",
        f"{MAX_BYTES['package'] // 2**20} MiB",
        f"within {QUICK_S:g} s of its start rests for {rests} and {REST_S[-1]:g} s",
    )
    for words in (*numbers, card_module.URL_VARIABLE, card_module.TOKEN_VARIABLE, card_module.PACKAGE_VARIABLE):
        assert words in page
