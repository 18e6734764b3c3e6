"""Answers on workspaces, what stands in them, and terminals; they change nothing.

Spec: cards.md, section 7.
"""

from typing import Any, Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from toolwire.core.board import Board, CardKind
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import Content
from toolwire.wire.answers.times import Time

SettingType: TypeAlias = Literal["string", "text", "number", "boolean", "select", "secret", "color"]


class WorkspaceSummary(Struct, frozen=True, kw_only=True):
    """A workspace without its board; agents may call its cards while it is `open`."""

    id: str
    name: str
    version: int
    open: bool
    created_at: Time


class WorkspaceList(Struct, frozen=True):
    """An owner's workspaces."""

    workspaces: list[WorkspaceSummary]


class BoardCard(Struct, frozen=True, kw_only=True):
    """A card of a workspace, and in a word how it does (`state`)."""

    id: str
    kind: CardKind
    title: str
    x: float
    y: float
    width: float
    height: float
    content: JsonObject
    state: str
    package: str | None = None
    agent_id: str | None = None


class AddedCard(BoardCard, frozen=True, kw_only=True):
    """A card that was put there; with the agent that was made along with it, its toolbox and its key, shown once."""

    toolbox_url: str | None = None
    agent_key: str | None = None


class BoardArrow(Struct, frozen=True, kw_only=True):
    """An arrow: what it lets through (`tools`, or everything) and whether its calls are kept whole."""

    id: str
    source: str
    target: str
    tools: list[str] | None
    recorded: bool


class Workspace(WorkspaceSummary, frozen=True, kw_only=True):
    """A workspace with its board."""

    cards: list[BoardCard]
    arrows: list[BoardArrow]
    can_undo: bool
    can_redo: bool


class EditedBoard(Struct, frozen=True, kw_only=True):
    """What an edit has put on a board; `ids` has the id of everything new by its `ref`."""

    workspace: WorkspaceSummary
    ids: dict[str, str]
    cards: list[BoardCard]
    arrows: list[BoardArrow]
    can_undo: bool
    can_redo: bool


class WorkspaceExport(Struct, frozen=True):
    """A workspace as `POST /api/v1/workspaces` takes it."""

    name: str
    board: Board


class ArrowCaller(Struct, frozen=True):
    """Who has called by way of an arrow."""

    id: str
    name: str


class ArrowCall(Struct, frozen=True, kw_only=True):
    """A call by way of an arrow; texts are previews."""

    call_id: str
    tool: str
    caller: ArrowCaller
    status: str
    started_at: Time
    ended_at: Time | None
    arguments: str
    progress: str
    result_preview: str
    error: str | None = None


class ArrowCalls(Struct, frozen=True):
    """Calls of an arrow, the oldest first."""

    calls: list[ArrowCall]


class WorkspaceCall(ArrowCall, frozen=True, kw_only=True):
    """A call by way of one of a workspace's arrows."""

    arrow: str


class CallsOfWorkspace(Struct, frozen=True):
    """Calls of a workspace, the oldest first."""

    calls: list[WorkspaceCall]


class ArrowLine(Struct, frozen=True):
    """What a call has told of its progress."""

    at: Time
    text: str


class WholeArrowCall(ArrowCall, frozen=True, kw_only=True):
    """One call by way of an arrow, in full: while it runs, and for as long as it is one of the latest.

    `sent` are its arguments without secrets, `hidden` are JSON pointers to those; `content` and `structured` are its
    result. `sent` is `None` where only previews are left, `content` also while it runs.
    """

    sent: JsonObject | None
    hidden: list[str]
    lines: list[ArrowLine]
    content: list[Content] | None
    structured: Any | UnsetType = UNSET


class ArrowTool(Struct, frozen=True, kw_only=True):
    """A tool that an arrow lets through, as the agent at its end sees it."""

    name: str
    title: str | None
    description: str
    input_schema: JsonObject
    read_only: bool


class ArrowTools(Struct, frozen=True):
    """What an arrow lets through."""

    tools: list[ArrowTool]


class BegunCall(Struct, frozen=True):
    """A call that was made; the log of its arrow tells the rest."""

    call_id: str


class CardLine(Struct, frozen=True):
    """A line that a card has logged."""

    at: Time
    level: str
    text: str


class CardLines(Struct, frozen=True):
    """Lines of a card, the oldest first."""

    lines: list[CardLine]


class SettingOption(Struct, frozen=True):
    """One choice of a setting."""

    value: str
    label: str


class ShownSetting(Struct, frozen=True, kw_only=True):
    """A setting as a card's manifest declares it; `default` is null where there is none, as always with secrets."""

    key: str
    type: SettingType
    label: str
    description: str
    placeholder: str
    default: str | float | bool | None
    required: bool
    scope: Literal["instance", "package"]
    max_length: int
    min: float | None
    max: float | None
    step: float | None
    options: list[SettingOption]


class ShownSettings(Struct, frozen=True):
    """What a card can be set to, and is: `values` by key, and the keys of the `secrets` that are set."""

    settings: list[ShownSetting]
    values: dict[str, str | float | bool]
    secrets: list[str]


class AskingCard(Struct, frozen=True):
    """The card that asks."""

    id: str
    name: str


class AskingWorkspace(Struct, frozen=True):
    """Where a card that asks stands."""

    id: str
    name: str


class WaitingQuestion(Struct, frozen=True, kw_only=True):
    """What a card asks its user, and who called it. It is declined in `remaining_ms`, whatever clocks say."""

    id: str
    workspace: AskingWorkspace
    card: AskingCard
    title: str
    message: str
    confirm_label: str
    cancel_label: str
    tone: str
    agent: str | None
    tool: str | None
    call_id: str | None
    asked_at: Time
    expires_at: Time
    remaining_ms: int


class WaitingQuestions(Struct, frozen=True):
    """The questions that wait in a workspace."""

    confirmations: list[WaitingQuestion]


class CommandEnd(Struct, frozen=True):
    """How a command in a terminal ended."""

    exit_code: int | None
    output: str
    truncated: bool
    timed_out: bool


class TerminalStatus(Struct, frozen=True):
    """How a terminal does."""

    status: str


class TerminalScreen(Struct, frozen=True):
    """What a terminal shows, as text."""

    screen: str
    status: str


class BoardMoment(Struct, frozen=True, kw_only=True):
    """What the `data` of each event of a workspace's stream holds; the other words depend on `type`."""

    type: str
