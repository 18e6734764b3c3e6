/** A board as data: what stands on it, what may be joined, and how a change makes a new one; it asks nobody. */

import type { Schemas } from "../api/client.ts";
import type { BoardChange } from "../api/feed.ts";

export type Card = Schemas["BoardCard"];
export type Arrow = Schemas["BoardArrow"];
export type Kind = Card["kind"];

export interface Board {
  readonly cards: Readonly<Record<string, Card>>;
  readonly arrows: Readonly<Record<string, Arrow>>;
}

export const NOTHING: Board = { cards: {}, arrows: {} };

/** How large a card of a kind is until somebody resizes it. */
export const USUAL_SIZE: Readonly<Record<Kind, { readonly width: number; readonly height: number }>> = {
  agent: { width: 280, height: 132 },
  card: { width: 420, height: 320 },
  terminal: { width: 560, height: 340 },
  note: { width: 240, height: 160 },
  group: { width: 640, height: 420 },
};

/** Why two cards cannot be joined; `undefined` where they can. */
export type Obstacle = "same" | "joined" | "note" | "group" | "no_agent";

export function boardOf(cards: readonly Card[], arrows: readonly Arrow[]): Board {
  return { cards: byId(cards), arrows: byId(arrows) };
}

/** The board after changes, as the host tells them; what they name and is not there is no fault. */
export function changed(board: Board, changes: readonly BoardChange[]): Board {
  const ofCards = changes.some((change) => change.change === "put_card" || change.change === "remove_card");
  const ofArrows = changes.some((change) => change.change === "put_arrow" || change.change === "remove_arrow");
  const cards = ofCards ? { ...board.cards } : board.cards; // who looks at one of them is not woken by the other
  const arrows = ofArrows ? { ...board.arrows } : board.arrows;
  for (const change of changes) apply(change, cards as Record<string, Card>, arrows as Record<string, Arrow>);
  return { cards, arrows };
}

function apply(change: BoardChange, cards: Record<string, Card>, arrows: Record<string, Arrow>): void {
  switch (change.change) {
    case "put_card":
      cards[change.card.id] = change.card;
      break;
    case "remove_card":
      delete cards[change.id];
      break;
    case "put_arrow":
      arrows[change.arrow.id] = change.arrow;
      break;
    case "remove_arrow":
      delete arrows[change.id];
      break;
  }
}

/** Whether an arrow may be drawn: it needs an agent at one end, and there is at most one between two cards. */
export function obstacle(board: Board, source: string, target: string): Obstacle | undefined {
  const [from, to] = [board.cards[source], board.cards[target]];
  if (source === target || from === undefined || to === undefined) return "same";
  if (Object.values(board.arrows).some((arrow) => joins(arrow, source, target))) return "joined";
  return obstacleOf(from.kind, to.kind);
}

/** The same of kinds: what stands in the way whichever cards they are. */
export function obstacleOf(from: Kind, to: Kind): Obstacle | undefined {
  if (from === "group" || to === "group") return "group";
  if (from === "note" && to === "note") return "note";
  return from === "agent" || to === "agent" || from === "card" || to === "card" ? undefined : "no_agent";
}

export function joins(arrow: Arrow, one: string, other: string): boolean {
  return (arrow.source === one && arrow.target === other) || (arrow.source === other && arrow.target === one);
}

export function arrowsOf(board: Board, card: string): readonly Arrow[] {
  return Object.values(board.arrows).filter((arrow) => arrow.source === card || arrow.target === card);
}

export function sizeOf(card: Card): { readonly width: number; readonly height: number } {
  const usual = USUAL_SIZE[card.kind];
  return { width: card.width || usual.width, height: card.height || usual.height };
}

function byId<T extends { readonly id: string }>(all: readonly T[]): Record<string, T> {
  return Object.fromEntries(all.map((one) => [one.id, one]));
}
