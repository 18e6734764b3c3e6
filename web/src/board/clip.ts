/** Cards and the arrows among them as a text that can be pasted, here or in another browser; it changes no board. */

import type { Wanted } from "./edits.ts";
import { type Arrow, type Board, type Card, sizeOf } from "./model.ts";

const MARK = "toolwire/board/1";

export interface Clip {
  readonly cards: readonly Card[];
  readonly arrows: readonly Arrow[];
}

/** The cards of those ids, and the arrows that have both ends among them. */
export function clipOf(board: Board, ids: readonly string[]): Clip {
  const chosen = new Set(ids);
  return {
    cards: Object.values(board.cards).filter((card) => chosen.has(card.id)),
    arrows: Object.values(board.arrows).filter((arrow) => chosen.has(arrow.source) && chosen.has(arrow.target)),
  };
}

export function textOf(clip: Clip): string {
  return JSON.stringify({ is: MARK, ...clip }, null, 1);
}

/** The clip that a text is; `undefined` for any other text. */
export function clipIn(text: string): Clip | undefined {
  if (!text.includes(MARK)) return undefined;
  try {
    const read = JSON.parse(text) as Partial<Clip> & { readonly is?: unknown };
    if (read.is !== MARK || !Array.isArray(read.cards) || !Array.isArray(read.arrows)) return undefined;
    return { cards: read.cards, arrows: read.arrows };
  } catch {
    return undefined;
  }
}

/** The changes that add a copy of a clip, moved; the copies' refs are `refOf` their originals' ids. */
export function copies(clip: Clip, by: { readonly x: number; readonly y: number }): readonly Wanted[] {
  const cards = clip.cards.map(({ id, state: _, package: pkg, agent_id, ...card }) => ({
    ...card,
    ...(pkg ? { package: pkg } : {}),
    ...(agent_id ? { agent_id } : {}),
    change: "add_card" as const,
    ref: refOf(id),
    x: Math.round(card.x + by.x),
    y: Math.round(card.y + by.y),
  }));
  const arrows = clip.arrows.map(({ source, target, tools, recorded }) => ({
    change: "add_arrow" as const,
    source: refOf(source),
    target: refOf(target),
    tools,
    recorded,
  }));
  return [...cards, ...arrows];
}

function refOf(id: string): string {
  return `copy of ${id}`;
}

/** How far a clip must be moved so that its middle is at a point. */
export function moveTo(clip: Clip, middle: { readonly x: number; readonly y: number }): { x: number; y: number } {
  const frame = frameOf(clip.cards);
  return { x: middle.x - frame.x - frame.width / 2, y: middle.y - frame.y - frame.height / 2 };
}

export interface Frame {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The smallest frame around cards. */
export function frameOf(cards: readonly Card[]): Frame {
  const x = Math.min(...cards.map((card) => card.x));
  const y = Math.min(...cards.map((card) => card.y));
  const right = Math.max(...cards.map((card) => card.x + sizeOf(card).width));
  const bottom = Math.max(...cards.map((card) => card.y + sizeOf(card).height));
  return { x, y, width: right - x, height: bottom - y };
}
