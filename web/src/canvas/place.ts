/** Where something new stands: where the user looks, and beside what is there already, so that it covers nothing. */

import { placed } from "../board/groups.ts";
import { type Card, type Kind, USUAL_SIZE } from "../board/model.ts";
import { useBoard } from "../board/store.ts";
import { middleOfView, type Point } from "./view.ts";

const GAP = 40;
const STEP = 60;
const MOST_RINGS = 40;

interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

export function placeForNew(kind: Kind): Point {
  const size = USUAL_SIZE[kind];
  const middle = middleOfView();
  const wanted = { x: middle.x - size.width / 2, y: middle.y - size.height / 2 };
  const cards = Object.values(useBoard.getState().board.cards);
  return freePlace(
    cards.filter((card) => card.kind !== "group").map((card: Card) => placed(card)),
    { ...wanted, ...size },
  );
}

/** The nearest place for a box at which it touches none of the others; rings around the wanted one are tried in turn. */
export function freePlace(others: readonly Box[], wanted: Box): Point {
  for (let ring = 0; ring <= MOST_RINGS; ring += 1) {
    for (const [across, down] of ringOf(ring)) {
      const box = { ...wanted, x: wanted.x + across * STEP, y: wanted.y + down * STEP };
      if (!others.some((other) => touches(box, other))) return { x: Math.round(box.x), y: Math.round(box.y) };
    }
  }
  return { x: Math.round(wanted.x), y: Math.round(wanted.y) };
}

function touches(one: Box, other: Box): boolean {
  return (
    one.x < other.x + other.width + GAP &&
    other.x < one.x + one.width + GAP &&
    one.y < other.y + other.height + GAP &&
    other.y < one.y + one.height + GAP
  );
}

/** The steps that make a square ring, the right-hand ones first. */
function ringOf(ring: number): readonly (readonly [number, number])[] {
  if (ring === 0) return [[0, 0]];
  const steps: [number, number][] = [];
  for (let at = -ring; at <= ring; at += 1) {
    steps.push([ring, at], [-ring, at], [at, ring], [at, -ring]);
  }
  return steps.sort(([across, down], [across2, down2]) => weight(across, down) - weight(across2, down2));
}

function weight(across: number, down: number): number {
  return Math.hypot(across, down) - (across > 0 ? 0.5 : 0);
}
