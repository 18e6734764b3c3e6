"""What a client asks about workspaces, what stands in them, and packages of cards; it sends nothing.

Spec: cards.md, section 7.
"""

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from toolwire.client.asks import API, Ask, Watch, delete, done, get, given, if_match, part, patch, post, present, put
from toolwire.client.contents import Content
from toolwire.client.doors import D, Group, Method, Stream
from toolwire.core.board import Board, CardKind
from toolwire.core.jsontypes import JsonObject
from toolwire.wire.answers.boards import (
    AddedCard,
    ArrowCalls,
    ArrowTools,
    BegunCall,
    BoardArrow,
    BoardCard,
    CallsOfWorkspace,
    CardLines,
    EditedBoard,
    ShownSettings,
    WholeArrowCall,
    Workspace,
    WorkspaceExport,
    WorkspaceList,
    WorkspaceSummary,
)
from toolwire.wire.answers.packages import CardPackage, CardPackages, ConsentedPackage

T = TypeVar("T")

Place: TypeAlias = tuple[float, float] | tuple[float, float, float, float]
"""Where a card stands, and its width and height, if they are not to be the usual ones."""


class WorkspaceCalls(Group[D]):
    """Workspaces, by an owner's key."""

    @Method
    def create(self, name: str, board: Board | None = None) -> Ask[Workspace]:
        """Make a workspace; with a board, as an export has it, it is not empty."""
        return post("/workspaces", Workspace, present(name=name, board=board))

    @Method
    def list(self) -> Ask[WorkspaceList]:
        """The owner's workspaces, without their boards."""
        return get("/workspaces", WorkspaceList)

    @Method
    def get(self, workspace: str) -> Ask[Workspace]:
        """A workspace with its board."""
        return get(_workspace(workspace), Workspace)

    @Method
    def export(self, workspace: str) -> Ask[WorkspaceExport]:
        """A workspace as `create` takes it: names and boards, no keys."""
        return get(_workspace(workspace) + "/export", WorkspaceExport)

    @Method
    def rename(self, workspace: str, name: str) -> Ask[WorkspaceSummary]:
        """Give a workspace another name."""
        return patch(_workspace(workspace), WorkspaceSummary, {"name": name})

    @Method
    def remove(self, workspace: str) -> Ask[None]:
        """Remove a workspace."""
        return delete(_workspace(workspace))

    @Method
    def open(self, workspace: str) -> Ask[WorkspaceSummary]:
        """Let agents call the cards of a workspace."""
        return replace(post(_workspace(workspace) + "/open", WorkspaceSummary), idempotent=True)

    @Method
    def close(self, workspace: str) -> Ask[WorkspaceSummary]:
        """Let no agent call the cards of a workspace."""
        return replace(post(_workspace(workspace) + "/close", WorkspaceSummary), idempotent=True)

    @Method
    def undo(self, workspace: str, version: int | None = None) -> Ask[Workspace]:
        """Take back the latest edit."""
        return _seen(post(_workspace(workspace) + "/undo", Workspace), version)

    @Method
    def redo(self, workspace: str, version: int | None = None) -> Ask[Workspace]:
        """Do again what was taken back last."""
        return _seen(post(_workspace(workspace) + "/redo", Workspace), version)

    @Method
    def edit(self, workspace: str, changes: Sequence[JsonObject], version: int | None = None) -> Ask[EditedBoard]:
        """Change many things on a board in one step, which one undo takes back."""
        return _seen(post(_workspace(workspace) + "/edits", EditedBoard, {"changes": list(changes)}), version)

    @Stream
    def events(self, workspace: str, after: str | None = None) -> Watch[JsonObject]:
        """What happens in a workspace, for as long as somebody reads; over breaks of the connection, too.

        With the id of an event, what came `after` it comes first.
        """
        return Watch(ask=get(_workspace(workspace) + "/events", Workspace, {"after": after}), event=JsonObject)


class CardCalls(Group[D]):
    """Cards and arrows of a workspace, by an owner's key. With `version`, an edit is refused that has not seen it."""

    @Method
    def add(
        self,
        workspace: str,
        kind: CardKind,
        *,
        title: str | None = None,
        package: str | None = None,
        agent: str | None = None,
        place: Place = (0.0, 0.0),
        content: JsonObject | None = None,
        version: int | None = None,
    ) -> Ask[AddedCard]:
        """Put a card on the board; one of kind "agent" without `agent` makes the agent, too."""
        (x, y), size = place[:2], place[2:]
        body = present(kind=kind, title=title, package=package, agent_id=agent, x=x, y=y, content=content)
        return _seen(post(_workspace(workspace) + "/cards", AddedCard, body | _size(size)), version)

    @Method
    def change(
        self,
        workspace: str,
        card: str,
        *,
        title: str | UnsetType = UNSET,
        place: tuple[float, float] | None = None,
        size: tuple[float, float] | None = None,
        content: JsonObject | UnsetType = UNSET,
        version: int | None = None,
    ) -> Ask[BoardCard]:
        """Move, resize or rename a card, or change what it says."""
        body = given(title=title, content=content)
        if place is not None:
            body |= {"x": place[0], "y": place[1]}
        return patch(f"{_workspace(workspace)}/cards/{part(card)}", BoardCard, body | _size(size), version)

    @Method
    def remove(self, workspace: str, card: str, version: int | None = None) -> Ask[None]:
        """Remove a card and its arrows."""
        return delete(f"{_workspace(workspace)}/cards/{part(card)}", version=version)

    @Method
    def log(self, workspace: str, card: str) -> Ask[CardLines]:
        """What a card has logged, the oldest line first."""
        return get(f"{_workspace(workspace)}/cards/{part(card)}/log", CardLines)

    @Method
    def settings(self, workspace: str, card: str, *, language: str | None = None) -> Ask[ShownSettings]:
        """What a card can be set to, and is, with labels in a language; of secrets only whether they are set."""
        return get(f"{_workspace(workspace)}/cards/{part(card)}/settings", ShownSettings, {"language": language})

    @Method
    def change_settings(
        self, workspace: str, card: str, values: JsonObject, *, language: str | None = None
    ) -> Ask[ShownSettings]:
        """Set some of a card's settings; `None` puts one back to its default, and removes a secret."""
        ask = put(f"{_workspace(workspace)}/cards/{part(card)}/settings", ShownSettings, {"values": values})
        return replace(ask, query=present(language=language))

    @Method
    def draw(
        self,
        workspace: str,
        source: str,
        target: str,
        *,
        tools: Sequence[str] | None = None,
        recorded: bool = True,
        version: int | None = None,
    ) -> Ask[BoardArrow]:
        """Draw an arrow: what it joins may be used by the agent at its end from now on."""
        body = present(source=source, target=target, tools=tools, recorded=recorded)
        return _seen(post(_workspace(workspace) + "/arrows", BoardArrow, body), version)

    @Method
    def change_arrow(
        self,
        workspace: str,
        arrow: str,
        *,
        source: str | UnsetType = UNSET,
        target: str | UnsetType = UNSET,
        tools: Sequence[str] | UnsetType | None = UNSET,
        recorded: bool | UnsetType = UNSET,
        version: int | None = None,
    ) -> Ask[BoardArrow]:
        """Change what an arrow joins, what it lets through (`tools`; `None` for everything) or what is kept of it."""
        body = given(source=source, target=target, tools=tools, recorded=recorded)
        return patch(f"{_workspace(workspace)}/arrows/{part(arrow)}", BoardArrow, body, version)

    @Method
    def remove_arrow(self, workspace: str, arrow: str, version: int | None = None) -> Ask[None]:
        """Remove an arrow, and with it what it granted."""
        return delete(f"{_workspace(workspace)}/arrows/{part(arrow)}", version=version)

    @Method
    def arrow_calls(
        self,
        workspace: str,
        arrow: str,
        *,
        after: str | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> Ask[ArrowCalls]:
        """The latest calls by way of an arrow, or those after or before one of them, the oldest first."""
        query = {"after": after, "before": before, "limit": limit}
        return get(f"{_workspace(workspace)}/arrows/{part(arrow)}/log", ArrowCalls, query)

    @Method
    def workspace_calls(self, workspace: str, *, limit: int | None = None) -> Ask[CallsOfWorkspace]:
        """The latest calls by way of all arrows of a workspace, the oldest first."""
        return get(f"{_workspace(workspace)}/calls", CallsOfWorkspace, {"limit": limit})

    @Method
    def arrow_call(self, workspace: str, arrow: str, call: str) -> Ask[WholeArrowCall]:
        """One call by way of an arrow, in full where it is one of the latest."""
        return get(f"{_workspace(workspace)}/arrows/{part(arrow)}/log/{part(call)}", WholeArrowCall)

    @Method
    def arrow_tools(self, workspace: str, arrow: str, *, agent: str | None = None) -> Ask[ArrowTools]:
        """What an arrow lets through; with `agent`, of two agents that it joins, in whose place."""
        return get(f"{_workspace(workspace)}/arrows/{part(arrow)}/tools", ArrowTools, {"agent": agent})

    @Method
    def call_through(
        self, workspace: str, arrow: str, tool: str, arguments: JsonObject | None = None, *, agent: str | None = None
    ) -> Ask[BegunCall]:
        """Call a tool that an arrow lets through, as the agent at its end would."""
        body = present(tool=tool, arguments=arguments or {}, agent=agent)
        return post(f"{_workspace(workspace)}/arrows/{part(arrow)}/calls", BegunCall, body)

    @Method
    def cancel_call(self, workspace: str, arrow: str, call: str) -> Ask[None]:
        """End a call by way of an arrow, whoever made it."""
        return done(f"{_workspace(workspace)}/arrows/{part(arrow)}/calls/{part(call)}/cancel")


class PackageCalls(Group[D]):
    """Packages of cards, by an owner's key."""

    @Method
    def add(self, source: str) -> Ask[CardPackage]:
        """Install a package, or update it; what it would change waits for consent."""
        return post("/card-packages", CardPackage, {"source": source})

    @Method
    def upload(self, filename: str, content: Content) -> Ask[CardPackage]:
        """The same from an archive that is sent; the ending of its name says of what kind it is."""
        headers = {"content-type": "application/octet-stream"}
        return Ask(
            method="POST",
            path=f"{API}/card-packages/uploads",
            answers=CardPackage,
            query={"filename": filename},
            content=content,
            headers=headers,
        )

    @Method
    def list(self) -> Ask[CardPackages]:
        """The owner's packages."""
        return get("/card-packages", CardPackages)

    @Method
    def get(self, package: str) -> Ask[CardPackage]:
        """One package, with what waits for consent."""
        return get(f"/card-packages/{part(package)}", CardPackage)

    @Method
    def consent(self, package: str, digest: str, accept: bool) -> Ask[ConsentedPackage]:
        """Accept what waits and has this digest, or refuse it."""
        body = {"digest": digest, "accept": accept}
        return post(f"/card-packages/{part(package)}/consent", ConsentedPackage, body)

    @Method
    def remove(self, package: str, *, force: bool = False) -> Ask[None]:
        """Remove a package; by force, its copies leave their boards, too."""
        return delete(f"/card-packages/{part(package)}", {"force": "true" if force else "false"})


def _seen(ask: Ask[T], version: int | None) -> Ask[T]:
    """The same, only if nobody has changed the board since that version."""
    return replace(ask, headers={**ask.headers, **if_match(version)})


def _size(size: Sequence[float] | None) -> JsonObject:
    return {"width": size[0], "height": size[1]} if size else {}


def _workspace(workspace: str) -> str:
    return f"/workspaces/{part(workspace)}"
