"""How an agent sees a card's tool: its name and its description, made of the manifest's; who owns a name is elsewhere.

Contract: cards.md 13, 18, 21-24, decisions 7, 9, 11, 12.
"""

import hashlib

from toolwire.card.texts import cleaned

MAX_EXPOSED_CHARS = 64
TAIL_CHARS = 8
UNKNOWN_AUTHOR = "unknown author"

RESERVED_CARD_NAMES = frozenset(
    "neurosquad neurosquad-card custom canvas browser terminal agent note todo kanban host system telegram image"
    " reference ports web-watch watch timer sticky standup squad mcp skill official toolwire".split()
)
"""Names of built-in tool families, and those that cards elsewhere may not have either (cards.md §2)."""

RESERVED_TOOL_NAMES = frozenset(
    "agent_read agent_send agent_wait browser_click browser_history browser_navigate browser_press_key"
    " browser_screenshot browser_snapshot browser_type canvas_list canvas_remove_card canvas_spawn_card kanban_add"
    " kanban_move kanban_read kanban_remove kanban_write neurosquad_connections note_append note_read note_write"
    " ports_list reference_get reference_list skill_load skill_read_file squad_status telegram_read telegram_send"
    " terminal_read terminal_run terminal_send_keys todo_add todo_read todo_remove todo_set todo_write"
    " toolwire_call_tool toolwire_connections toolwire_list_tools watch_check_now watch_status".split()
)
"""Names of our own tools and of those that cards elsewhere may not have either (cards.md §4, decision 11)."""

SEPARATOR = "__"
"""Stands between a server's name and a tool's in the names of MCP clients, so no exposed name may have it."""


def natural_name(card_name: str, tool: str) -> str:
    """The name by which agents see a tool while nobody else has it (cards.md 13, decision 7)."""
    return shortened_name(f"{card_name.replace('-', '_')}_{tool}")


def shortened_name(name: str, tail: str = "") -> str:
    """A name with `tail` after it, in at most 64 characters: a longer one ends with 8 digits of its hash."""
    if len(name) + len(tail) <= MAX_EXPOSED_CHARS:
        return name + tail
    digest = hashlib.sha256(name.encode()).hexdigest()[:TAIL_CHARS]
    kept = MAX_EXPOSED_CHARS - len(tail) - TAIL_CHARS - 1
    return f"{name[:kept].rstrip('_')}_{digest}{tail}"


def numbered_name(name: str, number: int) -> str:
    """A natural name that others had first: `_2`, `_3` and so on (cards.md 19, decision 9)."""
    return shortened_name(name, f"_{number}")


def why_refused(exposed: str) -> str | None:
    """Why a name may not be exposed to agents, in words; `None` if it may (cards.md 21, 22, 24)."""
    if exposed in RESERVED_TOOL_NAMES:
        return f"{exposed!r} is the name of a built-in tool; rename the tool or the card"
    if SEPARATOR in exposed:
        return (
            f"{exposed!r} has two underscores in a row, which are reserved for MCP servers; rename the tool or the card"
        )
    return None


def shown_description(display_name: str, author: str | None, description: str) -> str:
    """What a model reads of a tool: whose it is, and what its author says (cards.md 18, decision 12)."""
    name = cleaned(display_name, 80)
    by = cleaned(author or "", 100) or UNKNOWN_AUTHOR
    return f'[Custom card "{name}" by {by}, community code] {description}'
