/** Groups are frames on the board: what has its middle inside a frame belongs to it, and goes where it goes. */

import { frameOf } from "./clip.ts";
import { type Board, type Card, sizeOf } from "./model.ts";

const PADDING = 28;
const HEAD = 34;

interface Placed {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Whether the middle of one is inside the other. */
export function isInside(inner: Placed, outer: Placed): boolean {
  const [x, y] = [inner.x + inner.width / 2, inner.y + inner.height / 2];
  return x > outer.x && x < outer.x + outer.width && y > outer.y && y < outer.y + outer.height;
}

export function placed(card: Card): Placed {
  return { x: card.x, y: card.y, ...sizeOf(card) };
}

/** What belongs to a group; a group inside another belongs to the larger one. */
export function membersOf(board: Board, group: Card): readonly Card[] {
  const frame = placed(group);
  const area = frame.width * frame.height;
  return Object.values(board.cards).filter((card) => {
    if (card.id === group.id) return false;
    const own = placed(card);
    return isInside(own, frame) && (card.kind !== "group" || own.width * own.height < area);
  });
}

/** Those cards, and what belongs to the groups among them. */
export function withMembers(board: Board, ids: readonly string[]): readonly string[] {
  const groups = ids.flatMap((id) => board.cards[id] ?? []).filter((card) => card.kind === "group");
  const members = groups.flatMap((group) => membersOf(board, group).map((card) => card.id));
  return [...new Set([...ids, ...members])];
}

/** The frame of a group around cards, with room for its head. */
export function groupAround(cards: readonly Card[]): Placed {
  const { x, y, width, height } = frameOf(cards);
  return {
    x: Math.round(x - PADDING),
    y: Math.round(y - PADDING - HEAD),
    width: Math.round(width + 2 * PADDING),
    height: Math.round(height + 2 * PADDING + HEAD),
  };
}
