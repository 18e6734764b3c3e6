/** React Flow's nodes for the cards: what is dragged or resized stays as the hand has it, and is saved when let go. */

import { applyNodeChanges, type Node, type NodeChange } from "@xyflow/react";
import { useCallback, useEffect, useRef, useState } from "react";
import { isInside } from "../board/groups.ts";
import { type Board, type Card, sizeOf } from "../board/model.ts";
import { useSelection } from "../board/selection.ts";
import { editBoard, useBoard } from "../board/store.ts";
import { type Text, useText } from "../i18n/text.ts";
import { handlesOf } from "./handles.ts";

/** Steps of the arrow keys that follow each other this closely are one edit. */
const STEPS_MS = 350;

type Cards = Board["cards"];

export function useBoardNodes() {
  const text = useText();
  const cards = useBoard((state) => state.board.cards);
  const chosen = useSelection((state) => state.cards);
  const [nodes, setNodes] = useState<readonly Node[]>([]);
  const latest = useRef(nodes);
  const members = useRef(new Map<string, readonly string[]>());
  const unsaved = useRef(new Set<string>());
  const timer = useRef<number>(undefined);
  const show = useCallback((next: readonly Node[]): void => {
    latest.current = next;
    setNodes(next);
  }, []);

  useEffect(() => {
    show(nodesOf(text, cards, latest.current, new Set(chosen), unsaved.current));
  }, [text, cards, chosen, show]);

  const save = useCallback((): void => {
    window.clearTimeout(timer.current);
    members.current.clear();
    const ids = unsaved.current;
    unsaved.current = new Set();
    void editBoard(movesIn(latest.current, ids));
  }, []);

  const onNodesChange = useCallback(
    (changes: NodeChange[]): void => {
      onSelect(changes);
      const rest = withMembers(changes, latest.current, members.current);
      if (rest.length === 0) return;
      show(applyNodeChanges(rest, [...latest.current]).map(withHandles));
      const stepped = rest.flatMap((change) =>
        change.type === "position" && change.dragging === false ? change.id : [],
      );
      for (const id of stepped) unsaved.current.add(id);
      window.clearTimeout(timer.current);
      if (unsaved.current.size > 0) timer.current = window.setTimeout(save, STEPS_MS);
    },
    [show, save],
  );
  const onDragStart = useCallback((dragged: readonly Node[]): void => {
    members.current = membersOfGroups(dragged, latest.current);
  }, []);
  return { nodes: nodes as Node[], onNodesChange, onDragStart, onDragStop: save };
}

/** The nodes for cards; those that are as they were are the same objects, and so is the whole list. */
function nodesOf(
  text: Text,
  cards: Cards,
  before: readonly Node[],
  chosen: ReadonlySet<string>,
  unsaved: ReadonlySet<string>,
): readonly Node[] {
  const known = new Map(before.map((node) => [node.id, node]));
  let same = before.length === Object.keys(cards).length;
  const nodes = Object.values(cards).map((card, index) => {
    const old = known.get(card.id);
    const isHeld = old?.dragging === true || old?.resizing === true || unsaved.has(card.id);
    const next = nodeOf(text, card, old, chosen.has(card.id), isHeld);
    if (next !== before[index]) same = false;
    return next;
  });
  return same ? before : nodes;
}

function nodeOf(text: Text, card: Card, old: Node | undefined, selected: boolean, isHeld: boolean): Node {
  const { width, height } = isHeld && old ? { width: old.width ?? 0, height: old.height ?? 0 } : sizeOf(card);
  const position = isHeld && old ? old.position : { x: card.x, y: card.y };
  const ariaLabel = `${text(`kind.${card.kind}`)}: ${card.title}`;
  const isSame =
    old !== undefined &&
    old.position.x === position.x &&
    old.position.y === position.y &&
    old.width === width &&
    old.height === height &&
    old.ariaLabel === ariaLabel &&
    (old.selected ?? false) === selected;
  if (isSame) return old;
  return {
    ...old,
    id: card.id,
    type: "card",
    position,
    width,
    height,
    selected,
    ariaLabel,
    zIndex: card.kind === "group" ? -1 : selected ? 1 : 0, // a frame stays beneath what it frames
    data: { kind: card.kind, title: card.title },
    handles: card.kind === "group" ? [] : handlesOf(width, height),
  };
}

/** A node that is being resized has its handles elsewhere. */
function withHandles(node: Node): Node {
  return node.resizing && node.data.kind !== "group"
    ? { ...node, handles: handlesOf(node.width ?? 0, node.height ?? 0) }
    : node;
}

function onSelect(changes: readonly NodeChange[]): void {
  const picked = changes.filter((change) => change.type === "select");
  if (picked.length === 0) return;
  const { cards, arrows, choose } = useSelection.getState();
  const chosen = new Set(cards);
  for (const { id, selected } of picked) {
    if (selected) chosen.add(id);
    else chosen.delete(id);
  }
  choose({ cards: [...chosen], arrows });
}

/** Changes of positions and sizes, and with each group's those of what is in it. */
function withMembers(
  changes: readonly NodeChange[],
  nodes: readonly Node[],
  held: ReadonlyMap<string, readonly string[]>,
): NodeChange[] {
  const own = changes.filter((change) => change.type !== "select" && change.type !== "remove");
  const moved = new Set(own.flatMap((change) => (change.type === "position" ? change.id : [])));
  if (moved.size === 0) return own;
  const known = new Map(nodes.map((node) => [node.id, node]));
  for (const change of [...own]) {
    const node = change.type === "position" ? known.get(change.id) : undefined;
    if (change.type !== "position" || node?.data.kind !== "group" || node.resizing || !change.position) continue;
    const by = { x: change.position.x - node.position.x, y: change.position.y - node.position.y };
    for (const id of held.get(node.id) ?? membersOfGroups([node], nodes).get(node.id) ?? []) {
      const member = known.get(id);
      if (member === undefined || moved.has(id)) continue;
      moved.add(id);
      const position = { x: member.position.x + by.x, y: member.position.y + by.y };
      own.push({ type: "position", id, position, dragging: change.dragging ?? false });
    }
  }
  return own;
}

function membersOfGroups(dragged: readonly Node[], nodes: readonly Node[]): Map<string, readonly string[]> {
  const groups = dragged.filter((node) => node.data.kind === "group");
  return new Map(
    groups.map((group) => {
      const frame = boxOf(group);
      const inside = nodes.filter((node) => {
        const own = boxOf(node);
        const isLess = node.data.kind !== "group" || own.width * own.height < frame.width * frame.height;
        return node.id !== group.id && isLess && isInside(own, frame);
      });
      return [group.id, inside.map((node) => node.id)];
    }),
  );
}

function boxOf(node: Node) {
  return { ...node.position, width: node.width ?? 0, height: node.height ?? 0 };
}

/** The changes that save where nodes stand, for those that stand elsewhere than the board has them. */
function movesIn(nodes: readonly Node[], ids: ReadonlySet<string>) {
  const { cards } = useBoard.getState().board;
  return nodes
    .filter((node) => ids.has(node.id))
    .map((node) => ({ id: node.id, x: Math.round(node.position.x), y: Math.round(node.position.y) }))
    .filter(({ id, x, y }) => cards[id] !== undefined && (cards[id].x !== x || cards[id].y !== y))
    .map((place) => ({ change: "put_card" as const, ...place }));
}
