from pathlib import Path
from typing import Any

from toolwire.card import Card, CardError, ToolCall, tool_error

card = Card()


@card.tools.handle("run_checks")
async def run_checks(arguments: dict[str, Any], call: ToolCall) -> Any:
    terminal = next((peer for peer in await card.agents.list() if peer.kind == "shell" and peer.connected), None)
    if terminal is None:
        return tool_error("Ask the user to connect a terminal to the Release desk card.")

    call.progress(f"checking the {arguments['area']}")
    ran = await card.terminals.run(terminal.id, f"make check-{arguments['area']}", timeout_ms=110_000)
    if ran.timed_out:
        return tool_error("The checks did not end in time; the terminal shows how far they came.")
    return "All checks passed" if ran.exit_code == 0 else ran.output[-4_000:]


@card.tools.handle("drop_notes")
async def drop_notes(arguments: dict[str, Any], call: ToolCall) -> Any:
    notes = await card.storage.get("notes", [])
    if not await card.ui.confirm(f"Delete {len(notes)} notes?", f"{call.agent.name} wants to.", danger=True):
        return tool_error("The user did not agree. Leave the notes as they are.")

    try:
        await card.storage.delete("notes")
    except CardError as error:
        if error.code != "unavailable":
            raise  # its message reaches the agent, and the card's log
        return tool_error("The notes cannot be changed now. Try again later.")
    line = f"{call.agent.name} deleted {len(notes)} notes"
    await card.log.info(line)
    return {"deleted": len(notes)}


@card.tools.handle("largest_files")
def largest_files(arguments: dict[str, Any], call: ToolCall) -> Any:
    sizes: list[tuple[int, str]] = []
    for path in Path(arguments["folder"]).rglob("*"):
        if call.cancelled:  # nobody waits any more
            return None
        if path.is_file():
            sizes.append((path.stat().st_size, str(path)))
    return [f"{size} {path}" for size, path in sorted(sizes, reverse=True)[:10]]


if __name__ == "__main__":
    card.run()
