"""A card that runs a project's tests with pytest, in the terminal that an arrow joins it to."""

import shlex
from typing import Any

from toolwire.card import Card, ToolCall, ToolResult, tool_error

card = Card()


@card.tools.handle("run_tests")
async def run_tests(arguments: dict[str, Any], call: ToolCall) -> str | ToolResult | None:
    """Run the tests, or those whose name contains `filter`."""
    call.progress("running the tests…")  # shown on the arrow
    terminal = next((a for a in await card.agents.list() if a.kind == "shell" and a.connected), None)
    if terminal is None:
        return tool_error("Connect a terminal card to the Test radar card first.")

    command = "pytest -q --color=no"
    if arguments.get("filter"):
        command += f" -k {shlex.quote(arguments['filter'])}"
    result = await card.terminals.run(terminal.id, command, timeout_ms=110_000)
    if call.cancelled:
        return None  # the agent gave up; nothing is sent
    return "All tests passed" if result.exit_code == 0 else result.output


card.run()
