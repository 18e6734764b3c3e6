"""The card's process: it answers the tools that toolwire-card.json declares."""

from typing import Any

from toolwire.card import Card, ToolCall, tool_error

card = Card()


@card.tools.handle("count_words")
async def count_words(arguments: dict[str, Any], call: ToolCall) -> Any:
    """Answer one call. The arguments fit the schema in the manifest; what is returned goes to the agent as JSON."""
    call.progress("counting the words")  # shown on the arrow
    words = arguments["text"].split()
    if not words:
        return tool_error("The text has no words, only spaces. Send one that has some.")
    line = f"{call.agent.name} sent {len(words)} words"
    await card.log.info(line)  # the card's own log
    return {"words": len(words), "longest": max(words, key=len)}


if __name__ == "__main__":
    card.run()
