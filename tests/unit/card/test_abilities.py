"""cards.md 72-79, §3: what a Python card reaches beyond itself: terminals, the user, and what is kept for it."""

from typing import Any

import anyio
import pytest

from tests.unit.card.manifests import GOOD, manifest
from toolwire.card import Card, CardError, CommandResult, Peer, ToolCall, tool_error
from toolwire.testing import MockHost, text_of

SHELL = Peer("term_1", "Shell", "shell", "idle", connected=True)
FAR_SHELL = Peer("term_2", "Far", "shell", "idle", connected=False)


async def test_the_seeds_card_runs_its_tests_in_the_connected_terminal() -> None:
    """cards.md 72-74, 76."""
    card = Card()

    @card.tools.handle("run_tests")
    async def run_tests(arguments: dict[str, Any], call: ToolCall) -> Any:
        call.progress("running the tests…")
        terminal = next((a for a in await card.agents.list() if a.kind == "shell" and a.connected), None)
        if terminal is None:
            return tool_error("Connect a terminal card to the Test radar card first.")
        ran = await card.terminals.run(terminal.id, f"npm test -- {arguments.get('filter', '')}", timeout_ms=110_000)
        if call.cancelled:
            return None
        return "All tests passed" if ran.exit_code == 0 else ran.output

    def run(terminal: str, command: str) -> CommandResult | str:
        return CommandResult(1, f"1 failing in {terminal}") if "login" in command else "fine"

    async with MockHost(GOOD, agents=(FAR_SHELL, SHELL), on_command=run).connected(card) as host:
        assert text_of(await host.call_tool("run_tests")) == "All tests passed"
        assert text_of(await host.call_tool("run_tests", {"filter": "login"})) == "1 failing in term_1"
        await card.terminals.write("term_1", "q")
        assert host.written == {"term_1": "q"}
        with pytest.raises(CardError) as refused:
            await card.terminals.run("term_2", "ls")
        assert refused.value.code == "not_connected"
    async with MockHost(GOOD, agents=(FAR_SHELL,)).connected(card) as host:
        assert "Connect a terminal" in text_of(await host.call_tool("run_tests"))
    assert run_tests is not None


async def test_without_the_permission_a_card_learns_which_one_it_lacks() -> None:
    """cards.md 72."""
    card = Card()
    async with MockHost(manifest(permissions=[]), agents=(SHELL,)).connected(card):
        for asking in (card.agents.list, lambda: card.terminals.run("term_1", "ls")):
            with pytest.raises(CardError) as refused:
                await asking()
            assert refused.value.code == "permission_denied"


async def test_a_question_inside_a_call_names_it() -> None:
    """cards.md 75, 79, decision 35."""
    card = Card()

    @card.tools.handle("run_tests")
    async def run_tests(arguments: dict[str, Any], call: ToolCall) -> str:
        sure = await card.ui.confirm("Delete all?", "They are gone then.", confirm_label="Delete", danger=True)
        return "deleted" if sure else "kept"

    async with MockHost(GOOD, confirm=lambda question: question.title == "Nothing?").connected(card) as host:
        assert text_of(await host.call_tool("run_tests")) == "kept"
        asked = dict(host.requests)["ui.confirm"]
        assert getattr(asked, "call_id", None) == host.calls[0].call_id
        assert getattr(asked, "tone", None) == "danger"
        assert await card.ui.confirm("Nothing?")
    assert run_tests is not None


async def test_values_are_kept_for_a_copy_or_for_all() -> None:
    """cards.md §3."""
    card = Card()
    async with MockHost(GOOD).connected(card) as host:
        await card.storage.set("b", {"x": [1]})
        await card.storage.set("a", None)
        await card.storage.package.set("c", "shared")
        assert await card.storage.get("b") == {"x": [1]}
        assert await card.storage.get("a", 3) is None
        assert await card.storage.get("gone", 3) == 3
        assert await card.storage.keys() == ("a", "b")
        await card.storage.delete("a")
        assert host.storage == {"card_1": {"b": {"x": [1]}}, "test-radar": {"c": "shared"}}
        await card.storage.clear()
        assert await card.storage.keys() == ()
        assert await card.storage.package.keys() == ("c",)


async def test_what_is_too_large_for_a_message_is_refused_before_it_is_sent() -> None:
    """cards.md §3: one value must not cost a card its connection."""
    card = Card()
    async with MockHost(GOOD).connected(card) as host:
        with pytest.raises(CardError) as refused:
            await card.storage.set("big", "x" * 5 * 1024 * 1024)
        assert refused.value.code == "payload_too_large"
        with pytest.raises(TypeError):
            await card.storage.set("odd", object())
        await card.log.info("x" * 5 * 1024 * 1024)
    assert len(host.logs[0].text) == 2000


async def test_with_several_copies_a_card_says_which_one_it_means() -> None:
    """cards.md 67."""
    card = Card()
    async with MockHost(GOOD).connected(card) as host:
        host.set_copies("One", "Two")
        await anyio.wait_all_tasks_blocked()
        assert [copy.name for copy in card.copies] == ["One", "Two"]
        with pytest.raises(CardError, match="which copy"):
            await card.storage.get("a")
        await card.storage.set("a", 1, card=card.copies[1].id)
        await card.log.warn("about all")  # noqa: G010 -- no logger of the standard library
        await card.log.error("about one", card=card.copies[0].id)
    assert host.storage == {"card_2": {"a": 1}}
    assert [(line.level, line.card) for line in host.logs] == [("warn", None), ("error", "card_1")]
