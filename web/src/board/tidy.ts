/** Lays a board out in ranks, from what calls to what is called; the layout itself is dagre's, which comes when wanted. */

import type { Wanted } from "./edits.ts";
import { groupAround, membersOf } from "./groups.ts";
import { type Arrow, type Board, type Card, sizeOf } from "./model.ts";

interface Box {
  readonly id: string;
  readonly width: number;
  readonly height: number;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

type Layout = (boxes: readonly Box[], pairs: readonly (readonly [string, string])[]) => ReadonlyMap<string, Point>;

/** The changes that lay out all cards, or those of the ids given; what is in a group stays in it. */
export async function tidied(board: Board, only: readonly string[] = []): Promise<readonly Wanted[]> {
  const layout = await loaded();
  const chosen = new Set(only);
  const cards = Object.values(board.cards).filter((card) => chosen.size === 0 || chosen.has(card.id));
  return tidiedBy(layout, board, cards);
}

export function tidiedBy(layout: Layout, board: Board, cards: readonly Card[]): readonly Wanted[] {
  if (cards.length === 0) return [];
  const groups = cards.filter((card) => card.kind === "group");
  const inGroup = new Map<string, string>();
  for (const group of groups) {
    for (const member of membersOf(board, group)) {
      if (member.kind !== "group" && !inGroup.has(member.id)) inGroup.set(member.id, group.id);
    }
  }
  const inner = groups.map((group) => {
    const members = cards.filter((card) => inGroup.get(card.id) === group.id);
    return { group, members, ...laidInside(layout, group, members, board) };
  });
  const loose = cards.filter((card) => card.kind !== "group" && !inGroup.has(card.id));
  const boxes = [...loose.map(boxOf), ...inner.map(({ group, size }) => ({ id: group.id, ...size }))];
  const start = { x: Math.min(...cards.map((card) => card.x)), y: Math.min(...cards.map((card) => card.y)) };
  const places = layout(
    boxes,
    pairsOf(Object.values(board.arrows), (id) => inGroup.get(id) ?? id),
  );
  const at = (id: string): Point => shifted(places.get(id) ?? { x: 0, y: 0 }, start);
  const moved: Wanted[] = loose.map((card) => ({ change: "put_card", id: card.id, ...at(card.id) }));
  for (const { group, members, size, offsets } of inner) {
    const corner = at(group.id);
    moved.push({ change: "put_card", id: group.id, ...corner, ...size });
    for (const member of members) {
      const offset = offsets.get(member.id) ?? { x: 0, y: 0 };
      moved.push({ change: "put_card", id: member.id, ...shifted(offset, corner) });
    }
  }
  return moved;
}

/** A group's members laid out from its corner, and the size that the group needs for them. */
function laidInside(layout: Layout, group: Card, members: readonly Card[], board: Board) {
  if (members.length === 0) return { size: sizeOf(group), offsets: new Map<string, Point>() };
  const places = layout(
    members.map(boxOf),
    pairsOf(Object.values(board.arrows), (id) => id),
  );
  const laid = members.map((card) => ({ ...card, ...(places.get(card.id) ?? { x: 0, y: 0 }) }));
  const frame = groupAround(laid);
  const offsets = new Map(laid.map((card) => [card.id, { x: card.x - frame.x, y: card.y - frame.y }]));
  return { size: { width: frame.width, height: frame.height }, offsets };
}

function boxOf(card: Card): Box {
  return { id: card.id, ...sizeOf(card) };
}

function pairsOf(arrows: readonly Arrow[], inside: (id: string) => string): readonly (readonly [string, string])[] {
  return arrows.map((arrow) => [inside(arrow.source), inside(arrow.target)] as const);
}

function shifted(point: Point, by: Point): Point {
  return { x: Math.round(point.x + by.x), y: Math.round(point.y + by.y) };
}

async function loaded(): Promise<Layout> {
  const { Graph, layout } = await import("@dagrejs/dagre");
  return (boxes, pairs) => {
    const graph = new Graph();
    graph.setGraph({ rankdir: "LR", nodesep: 40, ranksep: 120 });
    graph.setDefaultEdgeLabel(() => ({}));
    for (const { id, width, height } of boxes) graph.setNode(id, { width, height });
    const known = new Set(boxes.map((box) => box.id));
    for (const [from, to] of pairs) if (from !== to && known.has(from) && known.has(to)) graph.setEdge(from, to);
    layout(graph);
    return new Map(
      boxes.map(({ id, width, height }) => {
        const { x, y } = graph.node(id) as Point;
        return [id, { x: x - width / 2, y: y - height / 2 }];
      }),
    );
  };
}
