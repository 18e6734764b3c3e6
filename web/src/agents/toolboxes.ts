/** What the agents of the workspace know of their tools: read once, then as the feed tells. */

import { create } from "zustand";
import { api, ask, type Schemas } from "../api/client.ts";
import { onMoment, useBoard } from "../board/store.ts";

export type ToolboxState = Schemas["ToolboxState"];

interface ToolboxesState {
  /** By the id of the agent's card. */
  readonly cards: Readonly<Record<string, ToolboxState>>;
}

export const useToolboxes = create<ToolboxesState>()(() => ({ cards: {} }));

let readFor: string | undefined;

/** Read them unless they are known; called by whoever shows one. */
export async function wantToolboxes(): Promise<void> {
  const id = useBoard.getState().workspace?.id;
  if (id === undefined || readFor === id) return;
  readFor = id;
  try {
    const { toolboxes } = await ask(api.GET("/api/v1/workspaces/{w}/toolboxes", { params: { path: { w: id } } }));
    if (readFor === id) useToolboxes.setState({ cards: Object.fromEntries(toolboxes.map((one) => [one.card, one])) });
  } catch {
    readFor = undefined; // the feed tells when the host is there again
  }
}

onMoment((moment) => {
  if (moment.type === "reset") {
    readFor = undefined;
    void wantToolboxes();
  }
  if (moment.type !== "toolbox") return;
  const { type: _, ...told } = moment as unknown as { readonly type: string } & ToolboxState;
  useToolboxes.setState(({ cards }) => ({ cards: { ...cards, [told.card]: told } }));
});
