/** The workspace that is shown: read once, followed by its feed, edited over REST; what cannot be saved is taken back. */

import { create } from "zustand";
import { ApiError, api, ask, messageOf, type Schemas } from "../api/client.ts";
import { type BoardChange, type BoardChangeMoment, Feed, type FeedState, type Moment } from "../api/feed.ts";
import { showToast } from "../ui/toasts.ts";
import { type Arrow, type Board, boardOf, type Card, changed, NOTHING } from "./model.ts";

export type NewCard = Schemas["NewCard"];
export type CardPatch = Schemas["CardPatch"];
export type ArrowPatch = Schemas["ArrowPatch"];
export type AddedCard = Schemas["AddedCard"];

interface BoardState {
  readonly workspace: Schemas["WorkspaceSummary"] | undefined;
  readonly board: Board;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  readonly feed: FeedState;
  /** Why the workspace cannot be shown. */
  readonly problem: ApiError | undefined;
}

export const useBoard = create<BoardState>()(() => ({
  workspace: undefined,
  board: NOTHING,
  canUndo: false,
  canRedo: false,
  feed: "connecting",
  problem: undefined,
}));

const listeners = new Set<(moment: Moment) => void>();
let feed: Feed | undefined;

/** Hear the moments of whatever workspace is shown; gives back how to stop that. */
export function onMoment(listener: (moment: Moment) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Show a workspace, and follow it; gives back how to leave it. */
export function openWorkspace(id: string): () => void {
  const own = new Feed(id, (state) => useBoard.setState({ feed: state }));
  feed = own;
  useBoard.setState({ workspace: undefined, board: NOTHING, problem: undefined });
  own.listen((moment) => {
    if (feed !== own) return;
    onFeed(id, moment);
    for (const listener of [...listeners]) listener(moment);
  });
  own.open();
  void read(id);
  return () => {
    own.close();
    if (feed === own) feed = undefined;
  };
}

async function read(id: string): Promise<void> {
  try {
    const shown = await ask(api.GET("/api/v1/workspaces/{w}", { params: { path: { w: id } } }));
    const { workspace } = useBoard.getState();
    if (workspace?.id === id && workspace.version > shown.version) return; // the feed was faster
    take(shown);
  } catch (error) {
    useBoard.setState({ problem: error instanceof ApiError ? error : new ApiError("unexpected", messageOf(error)) });
  }
}

function take(shown: Schemas["Workspace"]): void {
  const { cards, arrows, can_undo, can_redo, ...workspace } = shown;
  useBoard.setState({
    workspace,
    board: boardOf(cards, arrows),
    canUndo: can_undo,
    canRedo: can_redo,
    problem: undefined,
  });
}

function onFeed(id: string, moment: Moment): void {
  if (moment.type === "reset") void read(id);
  if (moment.type === "board") {
    const { workspace, changes } = moment as BoardChangeMoment;
    const state = useBoard.getState();
    if (state.workspace && workspace.version < state.workspace.version) return;
    useBoard.setState({ workspace, board: changed(state.board, changes) });
    void readDepth(id);
  }
  if (moment.type === "state") {
    const { card, state } = moment as { readonly card: string; readonly state: string };
    const known = useBoard.getState().board.cards[card];
    if (known) put([{ change: "put_card", card: { ...known, state } }]);
  }
}

/** Whether there is something to undo is the host's to say. */
async function readDepth(id: string): Promise<void> {
  try {
    const shown = await ask(api.GET("/api/v1/workspaces/{w}", { params: { path: { w: id } } }));
    if (useBoard.getState().workspace?.id === id) {
      useBoard.setState({ canUndo: shown.can_undo, canRedo: shown.can_redo });
    }
  } catch {
    // the next change asks again
  }
}

function put(changes: readonly BoardChange[]): void {
  useBoard.setState((state) => ({ board: changed(state.board, changes) }));
}

function here(): string {
  const { workspace } = useBoard.getState();
  if (workspace === undefined) throw new ApiError("offline", "no workspace is open");
  return workspace.id;
}

/** Show `changes` at once, save them, and read the board anew where that fails, with words for the user. */
async function edited<T>(changes: readonly BoardChange[], save: () => Promise<T>): Promise<T | undefined> {
  put(changes);
  try {
    return await save();
  } catch (error) {
    showToast({ tone: "bad", text: messageOf(error) });
    await read(here());
    return undefined;
  }
}

export async function addCard(card: NewCard): Promise<AddedCard | undefined> {
  return edited([], async () => {
    const added = await ask(api.POST("/api/v1/workspaces/{w}/cards", { params: { path: { w: here() } }, body: card }));
    put([{ change: "put_card", card: added }]);
    return added;
  });
}

export async function changeCard(id: string, patch: CardPatch): Promise<void> {
  const card = useBoard.getState().board.cards[id];
  if (card === undefined) return;
  await edited([{ change: "put_card", card: { ...card, ...patch } as Card }], () =>
    ask(api.PATCH("/api/v1/workspaces/{w}/cards/{c}", { params: { path: { w: here(), c: id } }, body: patch })),
  );
}

export async function removeCard(id: string): Promise<void> {
  const { arrows } = useBoard.getState().board;
  const loose = Object.values(arrows).filter((arrow) => arrow.source === id || arrow.target === id);
  const gone: readonly BoardChange[] = [
    ...loose.map((arrow) => ({ change: "remove_arrow" as const, id: arrow.id })),
    { change: "remove_card", id },
  ];
  await edited(gone, () =>
    ask(api.DELETE("/api/v1/workspaces/{w}/cards/{c}", { params: { path: { w: here(), c: id } } })),
  );
}

export async function drawArrow(source: string, target: string): Promise<Arrow | undefined> {
  return edited([], async () => {
    const drawn = await ask(
      api.POST("/api/v1/workspaces/{w}/arrows", { params: { path: { w: here() } }, body: { source, target } }),
    );
    put([{ change: "put_arrow", arrow: drawn }]);
    return drawn;
  });
}

export async function changeArrow(id: string, patch: ArrowPatch): Promise<void> {
  const arrow = useBoard.getState().board.arrows[id];
  if (arrow === undefined) return;
  await edited([{ change: "put_arrow", arrow: { ...arrow, ...patch } as Arrow }], () =>
    ask(api.PATCH("/api/v1/workspaces/{w}/arrows/{a}", { params: { path: { w: here(), a: id } }, body: patch })),
  );
}

export async function removeArrow(id: string): Promise<void> {
  await edited([{ change: "remove_arrow", id }], () =>
    ask(api.DELETE("/api/v1/workspaces/{w}/arrows/{a}", { params: { path: { w: here(), a: id } } })),
  );
}

export async function step(direction: "undo" | "redo"): Promise<void> {
  await edited([], async () => {
    const path = { params: { path: { w: here() } } };
    const shown =
      direction === "undo"
        ? await ask(api.POST("/api/v1/workspaces/{w}/undo", path))
        : await ask(api.POST("/api/v1/workspaces/{w}/redo", path));
    take(shown);
  });
}
