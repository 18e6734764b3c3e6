/** Which cards get a frame and which lose it: those in sight are awake, others sleep after a minute; few are at once. */

import { isFramed, type Living } from "./living.ts";

/** Frames that are there at once (cards.md §4). */
export const MOST_FRAMES = 24;

export interface Plan {
  readonly start: readonly string[];
  readonly sleep: readonly string[];
}

/**
 * @param cards how the cards that have a page do.
 * @param inSight those that can be seen now.
 * @param now the page's clock, as in `wantedUntil`.
 */
export function plan(cards: Readonly<Record<string, Living>>, inSight: ReadonlySet<string>, now: number): Plan {
  const framed = Object.entries(cards).filter(([, living]) => isFramed(living));
  const idle = framed
    .filter(([id, living]) => !inSight.has(id) && living.calls === 0)
    .sort(([, one], [, other]) => one.wantedUntil - other.wantedUntil);
  const overdue = idle.filter(([, living]) => living.wantedUntil <= now).map(([id]) => id);
  const wanting = [...inSight].filter((id) => cards[id]?.phase === "asleep");
  const room = MOST_FRAMES - (framed.length - overdue.length);
  const early = idle.slice(overdue.length, overdue.length + Math.max(0, wanting.length - room)).map(([id]) => id);
  return { start: wanting.slice(0, Math.max(0, room + early.length)), sleep: [...overdue, ...early] };
}

export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Whether two rectangles have something in common. */
export function overlaps(one: Rect, other: Rect): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  );
}
