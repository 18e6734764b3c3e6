"""What authors of Python cards test with: a mock host that behaves as a host does (cards.md §3, §7)."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.unit.card.manifests import GOOD, encoded, manifest
from toolwire.card import AgentRef, Card, CardError, ToolCall, tool_error, tool_text
from toolwire.card.manifest import read_manifest
from toolwire.core.errors import InvalidParam
from toolwire.testing import MockHost, text_of
from toolwire.wire.card_messages import CommandResult, Done, Peer, RespondParams, SetEnabledParams, TextPart, ToolResult

pytestmark = pytest.mark.virtual_time


def echoing() -> Card:
    card = Card()

    @card.tools.handle("run_tests")
    async def run_tests(arguments: dict[str, Any], call: ToolCall) -> Any:
        call.progress(f"for {call.agent.name}")
        return arguments

    assert run_tests is not None
    return card


async def test_a_manifest_may_be_a_value_an_object_a_file_or_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "neurosquad-card.json"
    path.write_bytes(encoded(GOOD))
    for given in (GOOD, read_manifest(encoded(GOOD)), path, str(path), tmp_path):
        async with MockHost(given).connected(echoing()) as host:
            assert host.manifest.name == "test-radar"
            assert [copy.name for copy in host.copies] == ["Test radar"]
    with pytest.raises(FileNotFoundError):
        MockHost(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match=r"toolwire-card\.json"):
        MockHost(tmp_path.parent / tmp_path.name / "..")
    with pytest.raises(InvalidParam):
        MockHost(manifest(name="Not a name"))


async def test_calls_are_kept_with_all_that_became_of_them() -> None:
    async with MockHost(GOOD).connected(echoing()) as host:
        await host.call_tool("run_tests", {"filter": "a"}, agent=AgentRef("agent_7", "writer"))
        await host.call_tool("run_tests")
    first, second = host.calls
    assert (first.tool, first.arguments, first.agent.id) == ("run_tests", {"filter": "a"}, "agent_7")
    assert first.progress == ["for writer"]
    assert first.result == tool_text('{\n  "filter": "a"\n}')
    assert second.progress == ["for tester"]
    assert first.call_id != second.call_id
    assert [method for method, _ in host.requests][:2] == ["host.ready", "tools.progress"]


async def test_what_no_agent_could_do_is_the_tests_mistake() -> None:
    host = MockHost(GOOD)
    with pytest.raises(ValueError, match="no card is connected"):
        await host.call_tool("run_tests")
    async with host.connected(echoing()):
        with pytest.raises(ValueError, match="declares no tool 'gone'"):
            await host.call_tool("gone")
        with pytest.raises(ValueError, match="no copy 'Other'"):
            await host.call_tool("run_tests", card="Other")


async def test_a_failing_test_fails_as_itself() -> None:
    """Not as a group of what has failed."""
    with pytest.raises(AssertionError, match="mine"):
        async with MockHost(GOOD).connected(echoing()):
            raise AssertionError("mine")


async def test_a_card_that_does_not_come_is_a_time_out() -> None:
    class Mute(Card):
        async def serve(self, open_wire: Any = None) -> None:
            await anyio.sleep_forever()

    with pytest.raises(TimeoutError):
        async with MockHost(GOOD).connected(Mute()):
            raise AssertionError("it is there")
    assert anyio.current_time() == 5


async def test_a_card_that_is_refused_gives_up() -> None:
    def refuse(asked: Any) -> Any:
        raise CardError("invalid_param", "this host speaks protocol 2")

    host = MockHost(GOOD)
    host.handle("host.ready", refuse)
    with pytest.raises(CardError, match="protocol 2"):
        async with host.connected(echoing()):
            raise AssertionError("it is there")


async def test_one_card_may_be_tested_again_and_again() -> None:
    card = echoing()
    for _ in range(3):
        async with MockHost(GOOD).connected(card) as host:
            assert text_of(await host.call_tool("run_tests")) == "{}"
            assert len(host.calls) == 1


async def test_methods_can_be_answered_otherwise_with_objects_or_later() -> None:
    card = echoing()
    host = MockHost(GOOD)

    async def slow(asked: SetEnabledParams) -> dict[str, Any]:
        await anyio.sleep(3)
        return {}

    def refuse(asked: Any) -> Any:
        raise CardError("rate_limited", "too fast", 40)

    host.handle("agents.list", lambda asked: {"agents": []})
    host.handle("tools.setEnabled", slow)
    host.handle("storage.get", refuse)
    async with host.connected(card):
        assert await card.agents.list() == ()
        await card.tools.set_enabled("run_tests", False)
        assert anyio.current_time() == 3
        assert host.disabled == set()
        with pytest.raises(CardError, match="too fast") as refused:
            await card.storage.get("a")
        assert refused.value.retry_after_ms == 40


async def test_a_connection_that_is_cut_ends_calls_and_the_card_comes_back() -> None:
    """Decision 24."""
    card, begun = Card(), anyio.Event()

    @card.tools.handle("run_tests")
    async def run_tests(arguments: dict[str, Any], call: ToolCall) -> str:
        if begun.is_set():
            return "again"
        begun.set()
        await anyio.sleep_forever()
        return "never"

    async with MockHost(GOOD).connected(card) as host:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(host.call_tool, "run_tests")
            await begun.wait()
            host.hang_up()
        assert host.calls[0].result == tool_error("the card stopped while it ran this: its connection ended")
        await anyio.sleep(1)
        assert text_of(await host.call_tool("run_tests")) == "again"
    assert run_tests is not None


async def test_a_result_that_breaks_the_rules_is_an_error_though_the_card_has_sent_it() -> None:
    """cards.md 52: other libraries may not look first."""
    card = Card()

    @card.tools.handle("run_tests")
    async def run_tests(arguments: dict[str, Any], call: ToolCall) -> str:
        broken = ToolResult((TextPart("x"),) * 17)
        await card.request("tools.respond", RespondParams(call.call_id, broken), Done)
        return "late"

    async with MockHost(GOOD).connected(card) as host:
        assert "17 parts" in text_of(await host.call_tool("run_tests"))
    assert run_tests is not None


async def test_terminals_answer_with_output_or_with_all_of_a_command() -> None:
    card = echoing()
    shell = Peer("t1", "shell", "shell", "idle", connected=True)

    def run(terminal: str, command: str) -> CommandResult | str:
        return "fine" if command == "ls" else CommandResult(None, "…", timed_out=True)

    async with MockHost(GOOD, agents=[shell], on_command=run).connected(card) as host:
        assert await card.terminals.run("t1", "ls") == CommandResult(0, "fine")
        assert (await card.terminals.run("t1", "sleep")).timed_out
        await card.terminals.write("t1", "a")
        await card.terminals.write("t1", "b")
    assert host.written == {"t1": "ab"}
