/** What the user has chosen on the board, and the one card or arrow among it whose details the inspector shows. */

import { create } from "zustand";
import type { Board } from "./model.ts";
import { useBoard } from "./store.ts";

export type Selected = { readonly kind: "card" | "arrow"; readonly id: string };

export interface Chosen {
  readonly cards: readonly string[];
  readonly arrows: readonly string[];
}

interface SelectionState extends Chosen {
  /** The one thing that is chosen; `undefined` where it is none, or several. */
  readonly selected: Selected | undefined;
  readonly select: (selected: Selected | undefined) => void;
  readonly choose: (chosen: Chosen) => void;
}

export const useSelection = create<SelectionState>()((set) => ({
  cards: [],
  arrows: [],
  selected: undefined,
  select: (selected) =>
    set({
      selected,
      cards: selected?.kind === "card" ? [selected.id] : [],
      arrows: selected?.kind === "arrow" ? [selected.id] : [],
    }),
  choose: ({ cards, arrows }) => set({ cards, arrows, selected: onlyOf({ cards, arrows }) }),
}));

function onlyOf({ cards, arrows }: Chosen): Selected | undefined {
  if (cards.length + arrows.length !== 1) return undefined;
  const [card] = cards;
  if (card !== undefined) return { kind: "card", id: card };
  return arrows[0] === undefined ? undefined : { kind: "arrow", id: arrows[0] };
}

/** What is not there any more is not chosen any more, whoever has removed it. */
useBoard.subscribe(({ board }, before) => {
  if (board.cards !== before.board.cards || board.arrows !== before.board.arrows) drop(board);
});

function drop(board: Board): void {
  const { cards, arrows, choose } = useSelection.getState();
  const left = {
    cards: cards.filter((id) => board.cards[id] !== undefined),
    arrows: arrows.filter((id) => board.arrows[id] !== undefined),
  };
  if (left.cards.length < cards.length || left.arrows.length < arrows.length) choose(left);
}
