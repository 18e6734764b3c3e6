/** Which page of an agent's details is open; cards on the board lead there. */

import { create } from "zustand";
import { useSelection } from "../board/selection.ts";

export type AgentTab = "tools" | "connect" | "program" | "chat";

export const useAgentTab = create<{ readonly tab: AgentTab }>()(() => ({ tab: "tools" }));

export function keepTab(tab: AgentTab): void {
  useAgentTab.setState({ tab });
}

/** Open a page of an agent's details. */
export function showAgent(card: string, tab: AgentTab): void {
  keepTab(tab);
  useSelection.getState().select({ kind: "card", id: card });
}
