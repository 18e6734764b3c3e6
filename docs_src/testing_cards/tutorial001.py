from docs_src.cards_in_python.main import card
from toolwire.card import AgentRef, CommandResult, Peer
from toolwire.testing import MockHost, text_of

MANIFEST = "docs_src/cards_in_python/toolwire-card.json"
CLAUDE = AgentRef("agent_1", "claude")
SHELL = Peer("t1", "shell", "shell", "idle", connected=True)


async def test_the_checks_run_in_the_connected_terminal() -> None:
    def run(terminal: str, command: str) -> CommandResult:
        return CommandResult(2, f"{command} failed")

    async with MockHost(MANIFEST, agents=[SHELL], on_command=run).connected(card) as host:
        result = await host.call_tool("run_checks", {"area": "docs"}, agent=CLAUDE)
        assert text_of(result) == "make check-docs failed"
        assert host.progress == ["checking the docs"]

        refused = await host.call_tool("run_checks", {"area": "shop"})
        assert refused.is_error  # the schema does not have that area: the card is not asked


async def test_notes_are_deleted_with_the_users_leave_alone() -> None:
    async with MockHost(MANIFEST, confirm=lambda asked: asked.title == "Delete 2 notes?").connected(card) as host:
        await card.storage.set("notes", ["faster", "smaller", "safer"])
        assert (await host.call_tool("drop_notes")).is_error
        assert host.storage == {"card_1": {"notes": ["faster", "smaller", "safer"]}}

        await card.storage.set("notes", ["faster", "smaller"])
        assert '"deleted": 2' in text_of(await host.call_tool("drop_notes", agent=CLAUDE))
        assert host.storage == {"card_1": {}}
        assert [line.text for line in host.logs] == ["claude deleted 2 notes"]
