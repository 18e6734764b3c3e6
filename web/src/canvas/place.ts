/** Where something new stands: to the right of what is there, so that it covers nothing. */

import { type Kind, sizeOf } from "../board/model.ts";
import { useBoard } from "../board/store.ts";

const GAP = 60;

export function placeForNew(_kind: Kind): { readonly x: number; readonly y: number } {
  const cards = Object.values(useBoard.getState().board.cards);
  if (cards.length === 0) return { x: 0, y: 0 };
  const right = Math.max(...cards.map((card) => card.x + sizeOf(card).width));
  const top = Math.min(...cards.map((card) => card.y));
  return { x: right + GAP, y: top };
}
