/** Adding to the board what can be added: what a choice becomes, with the arrow that it was chosen for, in one step. */

import { create } from "zustand";
import type { Wanted } from "./edits.ts";
import type { Kind } from "./model.ts";
import { addCard, drawArrow, editBoard } from "./store.ts";

export interface Addition {
  readonly kind: Kind;
  readonly title?: string;
  readonly package?: string;
  readonly agent_id?: string;
}

interface Place {
  readonly x: number;
  readonly y: number;
}

/** Put something on the board, and draw an arrow to it from a card; gives back the new card's id. */
export async function add(addition: Addition, place: Place, from?: string): Promise<string | undefined> {
  if (addition.kind === "agent" && addition.agent_id === undefined) return addAgent(addition, place, from);
  const changes: Wanted[] = [{ change: "add_card", ref: "new", ...addition, ...place }];
  if (from !== undefined) changes.push({ change: "add_arrow", source: from, target: "new", recorded: true });
  const edited = await editBoard(changes);
  return edited?.ids.new;
}

/** An agent is made along with its card, which an edit of many does not do. */
async function addAgent(addition: Addition, place: Place, from?: string): Promise<string | undefined> {
  const made = await addCard({ ...addition, ...place });
  if (made === undefined) return undefined;
  const { agent_id, agent_key } = made;
  if (agent_id && agent_key) useNewAgents.setState((state) => ({ keys: { ...state.keys, [agent_id]: agent_key } }));
  if (from !== undefined) await drawArrow(from, made.id);
  return made.id;
}

interface NewAgentsState {
  /** By agent: the key that the host tells once, of those that this page has made. It is gone with the page. */
  readonly keys: Readonly<Record<string, string>>;
}

export const useNewAgents = create<NewAgentsState>()(() => ({ keys: {} }));
