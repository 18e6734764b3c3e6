"""`note_*` and `todo_*`: what an agent may do with the notes that it is joined to, as edits that can be undone.

A note's content is `{"text": "…"}`; one whose content has `{"todos": [{"id", "text", "done"}, …]}` is a list of things
to do. One note may be both.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, cast

import msgspec
from msgspec import Struct

from toolwire.canvas.copies import Copy
from toolwire.canvas.families.arrows import ArrowCalls, Offer, Passage, card_tool
from toolwire.canvas.identity import AgentInfo
from toolwire.canvas.workspaces import Workspaces
from toolwire.core.board import Board, Edit, PutCard
from toolwire.core.errors import CardNotFound, Conflict
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import Result, Text, text_result
from toolwire.providers.function import LocalTool

MAX_NOTE_CHARS: Final = 100_000
MAX_TODOS: Final = 500
MAX_TODO_CHARS: Final = 2_000
MAX_ID_DIGITS: Final = 9

_TEXT: Final[JsonObject] = {"type": "string", "maxLength": MAX_NOTE_CHARS, "required": True}
_TODO: Final[JsonObject] = {"type": "string", "minLength": 1, "maxLength": MAX_TODO_CHARS}
_ID: Final[JsonObject] = {
    "type": "string",
    "maxLength": 64,
    "description": "The item's id, as todo_read shows it.",
    "required": True,
}

NOTE_READ: Final = card_tool(
    "note_read",
    "Read a note",
    "Reads a connected note. Returns its text.",
    read_only=True,
)
NOTE_WRITE: Final = card_tool(
    "note_write",
    "Write a note",
    "Replaces the whole text of a connected note. To add to it, use note_append. The user can undo it.",
    text={**_TEXT, "description": "The new text; Markdown is fine."},
)
NOTE_APPEND: Final = card_tool(
    "note_append",
    "Add to a note",
    "Adds a text at the end of a connected note, on a line of its own. The user can undo it.",
    text={**_TEXT, "description": "What to add."},
)
TODO_READ: Final = card_tool(
    "todo_read",
    "Read a to-do list",
    "Reads a connected to-do list. Returns its items with their ids, and which of them are done.",
    read_only=True,
)
TODO_ADD: Final = card_tool(
    "todo_add",
    "Add a to-do",
    "Adds an item at the end of a connected to-do list. Returns the list.",
    text={**_TODO, "description": "What there is to do.", "required": True},
)
TODO_SET: Final = card_tool(
    "todo_set",
    "Change a to-do",
    "Marks an item of a connected to-do list as done or open, or gives it another text. Returns the list.",
    id=_ID,
    done={"type": "boolean", "description": "Whether it is done."},
    text={**_TODO, "description": "Its new text."},
)
TODO_REMOVE: Final = card_tool(
    "todo_remove", "Remove a to-do", "Removes an item from a connected to-do list. Returns the list.", id=_ID
)
TODO_WRITE: Final = card_tool(
    "todo_write",
    "Write a to-do list",
    "Replaces all items of a connected to-do list. Returns the list. The user can undo it.",
    todos={
        "type": "array",
        "maxItems": MAX_TODOS,
        "required": True,
        "description": "The items, in order.",
        "items": {
            "type": "object",
            "properties": {"text": _TODO, "done": {"type": "boolean"}},
            "required": ["text"],
            "additionalProperties": False,
        },
    },
)


class Todo(Struct, frozen=True):
    """Something to do. `id` is unique in its list."""

    id: str
    text: str
    done: bool = False


class NoteFamily:
    """The tools of notes; see `granted.Family`.

    Args:
        workspaces: where notes are, and are edited.
        calls: takes calls through arrows.
    """

    def __init__(self, workspaces: Workspaces, calls: ArrowCalls) -> None:
        self._workspaces = workspaces
        self._calls = calls
        notes = ((NOTE_READ, self._read), (NOTE_WRITE, self._write), (NOTE_APPEND, self._append))
        todos = (
            (TODO_READ, self._read_todos),
            (TODO_ADD, self._add_todo),
            (TODO_SET, self._set_todo),
            (TODO_REMOVE, self._remove_todo),
            (TODO_WRITE, self._write_todos),
        )
        self._offers = [
            *(Offer(tool, _is_note, body) for tool, body in notes),
            *(Offer(tool, _has_todos, body) for tool, body in todos),
        ]

    def __call__(self, agent: AgentInfo, found: Sequence[Copy]) -> Sequence[LocalTool]:
        """What the cards that an agent reaches give it."""
        return list(self._calls.granted(agent, found, self._offers))

    async def _read(self, passage: Passage) -> Result:
        text = text_of(passage.copy.card.content)
        return Result((Text(text or "(the note is empty)"),), {"text": text})

    async def _write(self, passage: Passage) -> Result:
        text = passage.arguments["text"]
        await self._edit(passage, lambda content: {**content, "text": text})
        return text_result("The note is written.")

    async def _append(self, passage: Passage) -> Result:
        added = passage.arguments["text"]

        def make(content: JsonObject) -> JsonObject:
            before = text_of(content)
            text = f"{before}{'' if not before or before.endswith(chr(10)) else chr(10)}{added}"
            if len(text) > MAX_NOTE_CHARS:
                raise Conflict(f"a note has at most {MAX_NOTE_CHARS} characters; write it anew, and shorter")
            return {**content, "text": text}

        await self._edit(passage, make)
        return text_result("The text is added to the note.")

    async def _read_todos(self, passage: Passage) -> Result:
        return shown_todos(todos_of(passage.copy.card.content))

    async def _add_todo(self, passage: Passage) -> Result:
        text = passage.arguments["text"]
        return await self._edit_todos(passage, lambda todos: [*todos, Todo(_next_id(todos), text)])

    async def _set_todo(self, passage: Passage) -> Result:
        wanted, done, text = (passage.arguments.get(name) for name in ("id", "done", "text"))

        def make(todos: list[Todo]) -> list[Todo]:
            _check_has(todos, wanted)
            return [
                Todo(one.id, one.text if text is None else text, one.done if done is None else done)
                if one.id == wanted
                else one
                for one in todos
            ]

        return await self._edit_todos(passage, make)

    async def _remove_todo(self, passage: Passage) -> Result:
        wanted = passage.arguments["id"]

        def make(todos: list[Todo]) -> list[Todo]:
            _check_has(todos, wanted)
            return [one for one in todos if one.id != wanted]

        return await self._edit_todos(passage, make)

    async def _write_todos(self, passage: Passage) -> Result:
        wanted = [Todo(f"t{number}", one["text"], one.get("done", False)) for number, one in _numbered(passage)]
        return await self._edit_todos(passage, lambda _: wanted)

    async def _edit_todos(self, passage: Passage, make: Callable[[list[Todo]], list[Todo]]) -> Result:
        made: list[Todo] = []

        def change(content: JsonObject) -> JsonObject:
            made[:] = make(todos_of(content))
            if len(made) > MAX_TODOS:
                raise Conflict(f"a list has at most {MAX_TODOS} items; remove some")
            return {**content, "todos": msgspec.to_builtins(made)}

        await self._edit(passage, change)
        return shown_todos(made)

    async def _edit(self, passage: Passage, make: Callable[[JsonObject], JsonObject]) -> None:
        """Change what a note says, from what it says at that moment."""
        card_id, workspace = passage.copy.card.id, passage.copy.workspace

        def edit(board: Board) -> Edit:
            card = board.cards.get(card_id)
            if card is None:
                raise CardNotFound("the note was just removed")
            return (PutCard(msgspec.structs.replace(card, content=make(card.content))),)

        await self._workspaces.edit(workspace.owner, workspace.id, edit)


def text_of(content: JsonObject) -> str:
    """What a note says."""
    text = content.get("text")
    return text if isinstance(text, str) else ""


def todos_of(content: JsonObject) -> list[Todo]:
    """The items of a list; what is no item, because somebody else wrote it, is left out."""
    found: dict[str, Todo] = {}
    given: Any = content.get("todos")
    if not isinstance(given, list):
        return []
    last = 0
    for value in cast("list[Any]", given):
        try:
            item = msgspec.convert({"id": f"t{last + 1}", **value}, Todo)
        except (TypeError, msgspec.ValidationError):
            continue
        if found.setdefault(item.id, item) is item:
            last = max(last, _number_of(item))
    return list(found.values())


def shown_todos(todos: Sequence[Todo]) -> Result:
    """A list, for a model and for a program."""
    lines = [f"[{'x' if one.done else ' '}] {one.id}: {one.text}" for one in todos]
    return Result((Text("\n".join(lines) or "(the list is empty)"),), {"todos": msgspec.to_builtins(list(todos))})


def _numbered(passage: Passage) -> Iterable[tuple[int, JsonObject]]:
    given: list[JsonObject] = passage.arguments["todos"]
    return enumerate(given, 1)


def _next_id(todos: Sequence[Todo]) -> str:
    """An id that no item has or, as far as one can tell, had."""
    return f"t{max(map(_number_of, todos), default=0) + 1}"


def _number_of(item: Todo) -> int:
    """The number in an id that we gave; 0 for one that somebody else made up."""
    digits = item.id[1:]
    return int(digits) if item.id[:1] == "t" and len(digits) <= MAX_ID_DIGITS and digits.isdecimal() else 0


def _check_has(todos: Sequence[Todo], wanted: str | None) -> None:
    if all(one.id != wanted for one in todos):
        known = ", ".join(one.id for one in todos) or "none"
        raise Conflict(f"the list has no item {wanted!r}; its items are {known}")


def _is_note(copy: Copy) -> bool:
    return copy.card.kind == "note"


def _has_todos(copy: Copy) -> bool:
    return copy.card.kind == "note" and "todos" in copy.card.content
