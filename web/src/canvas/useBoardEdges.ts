/** React Flow's edges for the arrows: each ends at the sides of its cards that face each other, also while one is dragged. */

import { type Edge, MarkerType, type Node } from "@xyflow/react";
import { useMemo, useRef } from "react";
import type { Arrow } from "../board/model.ts";
import { useSelection } from "../board/selection.ts";
import { useBoard } from "../board/store.ts";
import { type Text, useText } from "../i18n/text.ts";
import { type Box, sides } from "./arrow-path.ts";

export function useBoardEdges(nodes: readonly Node[]): Edge[] {
  const text = useText();
  const arrows = useBoard((state) => state.board.arrows);
  const chosen = useSelection((state) => state.arrows);
  const before = useRef<{ text: Text; edges: readonly Edge[] }>({ text, edges: [] });
  return useMemo(() => {
    const { edges } = before.current;
    const known = before.current.text === text ? new Map(edges.map((edge) => [edge.id, edge])) : new Map();
    const next = edgesOf(text, Object.values(arrows), nodes, new Set(chosen), known);
    const isAsBefore = next.length === edges.length && next.every((edge, at) => edge === edges[at]);
    if (!isAsBefore) before.current = { text, edges: next };
    return before.current.edges as Edge[];
  }, [text, arrows, nodes, chosen]);
}

/** Edges that are as they were are the same objects. */
function edgesOf(
  text: Text,
  arrows: readonly Arrow[],
  nodes: readonly Node[],
  chosen: ReadonlySet<string>,
  known: ReadonlyMap<string, Edge>,
): readonly Edge[] {
  const ends = new Map(nodes.map((node) => [node.id, node]));
  return arrows.flatMap((arrow) => {
    const [from, to] = [ends.get(arrow.source), ends.get(arrow.target)];
    if (from === undefined || to === undefined) return [];
    const old = known.get(arrow.id);
    const selected = chosen.has(arrow.id);
    return old !== undefined && isSame(old, arrow, from, to, selected) ? old : edgeOf(text, arrow, from, to, selected);
  });
}

function edgeOf(text: Text, arrow: Arrow, from: Node, to: Node, selected: boolean): Edge {
  const [sourceHandle, targetHandle] = sides(boxOf(from), boxOf(to));
  const color = selected ? "var(--accent)" : "var(--arrow)";
  return {
    id: arrow.id,
    type: "arrow",
    source: arrow.source,
    target: arrow.target,
    sourceHandle,
    targetHandle,
    selected,
    data: { from, to, fromTitle: from.data.title, toTitle: to.data.title },
    ariaLabel: text("canvas.arrow", { from: String(from.data.title), to: String(to.data.title) }),
    markerEnd: { type: MarkerType.ArrowClosed, width: 18, height: 18, color },
  };
}

/** Whether an edge still says what is so; this is asked of each one in each frame of a drag. */
function isSame(edge: Edge, arrow: Arrow, from: Node, to: Node, selected: boolean): boolean {
  const { data } = edge;
  if (edge.selected !== selected || edge.source !== arrow.source || edge.target !== arrow.target) return false;
  if (data?.from === from && data.to === to) return true;
  if (data?.fromTitle !== from.data.title || data?.toTitle !== to.data.title) return false;
  const [leaves, meets] = sides(boxOf(from), boxOf(to));
  return edge.sourceHandle === leaves && edge.targetHandle === meets;
}

function boxOf(node: Node): Box {
  return { ...node.position, width: node.width ?? 0, height: node.height ?? 0 };
}
