/** The workspace that is shown: read once, followed by its feed; edits are shown at once and saved by `edits.ts`. */

import { create } from "zustand";
import { ApiError, api, ask, messageOf, type Schemas } from "../api/client.ts";
import { type BoardChange, type BoardChangeMoment, Feed, type FeedState, type Moment } from "../api/feed.ts";
import { type Board, boardOf, type Card, changed, NOTHING } from "./model.ts";
import { forgetGathered, gather, onMoments } from "./moments.ts";
import { overlaid } from "./pending.ts";

export type { AddedCard, ArrowPatch, CardPatch, NewCard } from "./edits.ts";
export { addCard, changeArrow, changeCard, drawArrow, editBoard, removeArrow, removeCard, step } from "./edits.ts";
export { onMoment, onMoments } from "./moments.ts";

interface BoardState {
  readonly workspace: Schemas["WorkspaceSummary"] | undefined;
  readonly board: Board;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  readonly feed: FeedState;
  /** How many edits are on their way to the host. */
  readonly saving: number;
  /** Why the workspace cannot be shown. */
  readonly problem: ApiError | undefined;
}

export const useBoard = create<BoardState>()(() => ({
  workspace: undefined,
  board: NOTHING,
  canUndo: false,
  canRedo: false,
  feed: "connecting",
  saving: 0,
  problem: undefined,
}));

let feed: Feed | undefined;

/** Show a workspace, and follow it; gives back how to leave it. */
export function openWorkspace(id: string): () => void {
  const own = new Feed(id, (state) => {
    if (feed !== own) return;
    useBoard.setState({ feed: state });
    if (state === "lost") void readWorkspace(id); // it may have been removed
  });
  feed = own;
  forgetGathered();
  useBoard.setState({ workspace: undefined, board: NOTHING, problem: undefined });
  own.listen((moment) => {
    if (feed === own) gather(moment);
  });
  own.open();
  void readWorkspace(id);
  return () => {
    own.close();
    if (feed === own) feed = undefined;
    forgetGathered();
  };
}

/** Read it again; what the feed has told meanwhile counts for more. */
export async function readWorkspace(id: string): Promise<void> {
  try {
    const shown = await ask(api.GET("/api/v1/workspaces/{w}", { params: { path: { w: id } } }));
    const { workspace } = useBoard.getState();
    if (feed === undefined || (workspace?.id === id && workspace.version > shown.version)) return;
    takeWorkspace(shown);
  } catch (error) {
    onUnread(error);
  }
}

function onUnread(error: unknown): void {
  const problem = error instanceof ApiError ? error : new ApiError("unexpected", messageOf(error));
  const isShown = useBoard.getState().workspace !== undefined;
  if (isShown && problem.code === "offline") return; // the feed tells of it, and comes back
  if (problem.status === 404) feed?.close();
  useBoard.setState({ problem });
}

/** Show a workspace as the host has just told it. */
export function takeWorkspace(shown: Schemas["Workspace"]): void {
  const { cards, arrows, can_undo, can_redo, ...workspace } = shown;
  useBoard.setState({
    workspace,
    board: boardOf(cards, arrows),
    canUndo: can_undo,
    canRedo: can_redo,
    problem: undefined,
  });
}

/** Change the board that is shown, and no other. */
export function put(changes: readonly BoardChange[]): void {
  if (changes.length > 0) useBoard.setState((state) => ({ board: changed(state.board, changes) }));
}

/** The id of the workspace that is shown. */
export function here(): string {
  const { workspace } = useBoard.getState();
  if (workspace === undefined) throw new ApiError("offline", "no workspace is open");
  return workspace.id;
}

type Told = Pick<BoardState, "workspace" | "canUndo" | "canRedo">;

onMoments((moments) => {
  const state = useBoard.getState();
  let told: Told = state;
  const changes: BoardChange[] = [];
  const states = new Map<string, string>();
  for (const moment of moments) {
    if (moment.type === "reset" && state.workspace) void readWorkspace(state.workspace.id);
    if (moment.type === "board") told = onBoard(moment as BoardChangeMoment, told, changes);
    if (moment.type === "state") onState(moment, states);
  }
  if (changes.length === 0 && states.size === 0 && told === state) return;
  const { workspace, canUndo, canRedo } = told;
  useBoard.setState({ workspace, canUndo, canRedo, board: withStates(changed(state.board, changes), states) });
});

function onBoard(moment: BoardChangeMoment, before: Told, changes: BoardChange[]): Told {
  const { workspace } = moment;
  if (before.workspace && workspace.version < before.workspace.version) return before;
  for (const change of moment.changes) {
    const seen = overlaid(change);
    if (seen) changes.push(seen);
  }
  return { workspace, canUndo: moment.can_undo, canRedo: moment.can_redo };
}

function onState(moment: Moment, states: Map<string, string>): void {
  const { card, state } = moment as { readonly card: string; readonly state: string };
  states.set(card, state);
}

function withStates(board: Board, states: ReadonlyMap<string, string>): Board {
  const put: BoardChange[] = [];
  for (const [id, state] of states) {
    const known: Card | undefined = board.cards[id];
    if (known && known.state !== state) put.push({ change: "put_card", card: { ...known, state } });
  }
  return changed(board, put);
}
