/** What the user looks at: one card or one arrow of the board, whose details the inspector shows. */

import { create } from "zustand";

export type Selected = { readonly kind: "card" | "arrow"; readonly id: string };

interface SelectionState {
  readonly selected: Selected | undefined;
  readonly select: (selected: Selected | undefined) => void;
}

export const useSelection = create<SelectionState>()((set) => ({
  selected: undefined,
  select: (selected) => set({ selected }),
}));
