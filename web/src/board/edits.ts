/** Edits of the board that is shown: seen at once, saved over REST as one step of undo each, taken back where that fails. */

import { api, ask, messageOf, type Schemas } from "../api/client.ts";
import type { BoardChange } from "../api/feed.ts";
import { showToast } from "../ui/toasts.ts";
import { type Arrow, arrowsOf, type Board, type Card } from "./model.ts";
import { pend } from "./pending.ts";
import { here, put, readWorkspace, takeWorkspace, useBoard } from "./store.ts";

export type NewCard = Schemas["NewCard"];
export type CardPatch = Schemas["CardPatch"];
export type ArrowPatch = Schemas["ArrowPatch"];
export type AddedCard = Schemas["AddedCard"];
/** A change as the host takes it in an edit of many. */
export type Wanted = Schemas["NewEdit"]["changes"][number];
export type Edited = Schemas["EditedBoard"];

/** Save, and count that as under way; where it fails, tell the user and read the board anew. */
async function saved<T>(save: () => Promise<T>): Promise<T | undefined> {
  useBoard.setState((state) => ({ saving: state.saving + 1 }));
  try {
    return await save();
  } catch (error) {
    showToast({ tone: "bad", text: messageOf(error) });
    const { workspace } = useBoard.getState();
    if (workspace) await readWorkspace(workspace.id);
    return undefined;
  } finally {
    useBoard.setState((state) => ({ saving: state.saving - 1 }));
  }
}

/** Change many things in one step, which one undo takes back; gives back what is new. */
export async function editBoard(changes: readonly Wanted[]): Promise<Edited | undefined> {
  if (changes.length === 0) return undefined;
  const { board } = useBoard.getState();
  const shown = seenAtOnce(board, changes);
  const done = pend(patchesIn(changes), removedIn(shown));
  put(shown);
  try {
    return await saved(async () => {
      const body = { changes: [...changes] };
      const edited = await ask(api.POST("/api/v1/workspaces/{w}/edits", { params: { path: { w: here() } }, body }));
      putNew(edited);
      return edited;
    });
  } finally {
    done();
  }
}

/** Show what is new without waiting for the feed; what is known already may have changed since. */
function putNew(edited: Edited): void {
  const { workspace, board } = useBoard.getState();
  if (workspace?.id !== edited.workspace.id) return;
  const made = new Set(Object.values(edited.ids));
  put([
    ...edited.cards
      .filter((card) => made.has(card.id) && board.cards[card.id] === undefined)
      .map((card) => ({ change: "put_card" as const, card })),
    ...edited.arrows
      .filter((arrow) => made.has(arrow.id) && board.arrows[arrow.id] === undefined)
      .map((arrow) => ({ change: "put_arrow" as const, arrow })),
  ]);
}

/** What of an edit can be shown before the host has answered: everything but what is new. */
export function seenAtOnce(board: Board, changes: readonly Wanted[]): readonly BoardChange[] {
  return changes.flatMap((wanted) => seenOf(board, wanted));
}

function seenOf(board: Board, wanted: Wanted): readonly BoardChange[] {
  switch (wanted.change) {
    case "put_card": {
      const { change: _, id, ...patch } = wanted;
      const card = board.cards[id];
      return card ? [{ change: "put_card", card: { ...card, ...patch } as Card }] : [];
    }
    case "put_arrow": {
      const { change: _, id, ...patch } = wanted;
      const arrow = board.arrows[id];
      return arrow ? [{ change: "put_arrow", arrow: { ...arrow, ...patch } as Arrow }] : [];
    }
    case "remove_card": {
      const loose = arrowsOf(board, wanted.id).map((arrow) => ({ change: "remove_arrow" as const, id: arrow.id }));
      return [...loose, { change: "remove_card", id: wanted.id }];
    }
    case "remove_arrow":
      return [{ change: "remove_arrow", id: wanted.id }];
    default:
      return [];
  }
}

function patchesIn(changes: readonly Wanted[]) {
  return changes.flatMap((wanted) => {
    if (wanted.change !== "put_card") return [];
    const { change: _, id, ...patch } = wanted;
    return [{ id, patch }];
  });
}

function removedIn(changes: readonly BoardChange[]): readonly string[] {
  return changes.flatMap((change) =>
    change.change === "remove_card" || change.change === "remove_arrow" ? [change.id] : [],
  );
}

/** Put a card on the board; an agent's, where none is named, makes the agent, whose key the answer has this once. */
export async function addCard(card: NewCard): Promise<AddedCard | undefined> {
  return saved(async () => {
    const added = await ask(api.POST("/api/v1/workspaces/{w}/cards", { params: { path: { w: here() } }, body: card }));
    const { toolbox_url: _, agent_key: __, ...shown } = added;
    put([{ change: "put_card", card: shown }]);
    return added;
  });
}

export async function changeCard(id: string, patch: CardPatch): Promise<void> {
  if (useBoard.getState().board.cards[id]) await editBoard([{ ...patch, change: "put_card", id }]);
}

export async function removeCard(id: string): Promise<void> {
  await editBoard([{ change: "remove_card", id }]);
}

export async function drawArrow(source: string, target: string): Promise<Arrow | undefined> {
  const edited = await editBoard([{ change: "add_arrow", ref: "arrow", source, target, recorded: true }]);
  return edited?.arrows[0];
}

export async function changeArrow(id: string, patch: ArrowPatch): Promise<void> {
  if (useBoard.getState().board.arrows[id]) await editBoard([{ ...patch, change: "put_arrow", id }]);
}

export async function removeArrow(id: string): Promise<void> {
  await editBoard([{ change: "remove_arrow", id }]);
}

export async function step(direction: "undo" | "redo"): Promise<void> {
  await saved(async () => {
    const path = { params: { path: { w: here() } } };
    const shown =
      direction === "undo"
        ? await ask(api.POST("/api/v1/workspaces/{w}/undo", path))
        : await ask(api.POST("/api/v1/workspaces/{w}/redo", path));
    takeWorkspace(shown);
  });
}
