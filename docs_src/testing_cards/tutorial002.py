import anyio

from docs_src.cards_in_python.main import card
from docs_src.testing_cards.tutorial001 import MANIFEST, SHELL
from toolwire.card import CardError
from toolwire.testing import MockHost, text_of
from toolwire.wire.card_messages import CommandParams, StoreParams


async def test_a_store_that_fails_is_told_to_the_agent() -> None:
    def fail(asked: StoreParams) -> None:
        raise CardError("unavailable", "the disk is full")

    host = MockHost(MANIFEST)
    host.handle("storage.delete", fail)
    async with host.connected(card):
        assert text_of(await host.call_tool("drop_notes")) == "The notes cannot be changed now. Try again later."


async def test_checks_that_hang_end_with_the_calls_time_or_with_its_agents_patience() -> None:
    begun = anyio.Event()

    async def hang(asked: CommandParams) -> None:
        begun.set()
        await anyio.sleep_forever()

    host = MockHost(MANIFEST, agents=[SHELL])
    host.handle("terminals.run", hang)
    async with host.connected(card):
        result = await host.call_tool("run_checks", {"area": "docs"}, timeout_s=0.1)
        assert text_of(result) == "the tool timed out after 0.1 s"

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(host.call_tool, "run_checks", {"area": "code"})
            await begun.wait()
            host.cancel(host.calls[-1].call_id)
        assert host.calls[-1].result is not None
