/** The board itself, drawn by React Flow: its nodes and edges are those of the store, its gestures become edits of it. */

import {
  Background,
  BackgroundVariant,
  ConnectionMode,
  Controls,
  type Edge,
  type EdgeChange,
  type FinalConnectionState,
  type HandleType,
  MiniMap,
  type Node,
  ReactFlow,
  ReactFlowProvider,
} from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { type MouseEvent, useMemo } from "react";
import { useTheme } from "../app/theme.ts";
import { type Kind, obstacle } from "../board/model.ts";
import { useSelection } from "../board/selection.ts";
import { changeArrow, drawArrow, useBoard } from "../board/store.ts";
import { FrameLayer } from "../cards/FrameLayer.tsx";
import { text as say, type Text, useText } from "../i18n/text.ts";
import { showToast } from "../ui/toasts.ts";
import { ArrowLine } from "./ArrowLine.tsx";
import { BoardStart } from "./BoardStart.tsx";
import "./board-view.css";
import { BoardWindows } from "./BoardWindows.tsx";
import { CardShell } from "./CardShell.tsx";
import { useIsFar } from "./distance.ts";
import { LabelLayer } from "./LabelLayer.tsx";
import { SelectionBar } from "./SelectionBar.tsx";
import { useBoardEdges } from "./useBoardEdges.ts";
import { useBoardKeys } from "./useBoardKeys.ts";
import { useBoardNodes } from "./useBoardNodes.ts";
import { openPalette, useView } from "./view.ts";

const NODE_TYPES = { card: CardShell };
const EDGE_TYPES = { arrow: ArrowLine };
const FIT = { maxZoom: 1, padding: 0.15 };

export function BoardView() {
  return (
    <ReactFlowProvider>
      <Flow />
      <BoardWindows />
    </ReactFlowProvider>
  );
}

function Flow() {
  const text = useText();
  const name = useBoard((state) => state.workspace?.name ?? "");
  const isEmpty = useBoard((state) => Object.keys(state.board.cards).length === 0);
  const theme = useTheme((state) => state.shown);
  const wiring = useView((state) => state.wiringFrom !== undefined);
  const { nodes, onNodesChange, onDragStart, onDragStop } = useBoardNodes();
  const edges = useBoardEdges(nodes);
  const isFar = useIsFar();
  const words = useMemo(() => readerWords(text), [text]);
  useBoardKeys();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a double click is a short way to what a button and keys do, too
    <div
      className="board-view"
      data-wiring={wiring || undefined}
      data-far={isFar || undefined}
      onDoubleClick={onDoubleClick}
    >
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        colorMode={theme}
        aria-label={text("canvas.label", { name })}
        ariaLabelConfig={words}
        connectionMode={ConnectionMode.Loose}
        connectionRadius={32}
        onInit={(flow) => useView.setState({ flow })}
        onNodesChange={onNodesChange}
        onEdgesChange={onEdgesChange}
        onNodeDragStart={(_, __, dragged) => onDragStart(dragged)}
        onNodeDragStop={onDragStop}
        onSelectionDragStart={(_, dragged) => onDragStart(dragged)}
        onSelectionDragStop={onDragStop}
        onConnectStart={(_, { nodeId }) => useView.setState({ wiringFrom: nodeId ?? undefined })}
        onConnect={({ source, target }) => void drawArrow(source, target)}
        onConnectEnd={onConnectEnd}
        onReconnectStart={(_, edge) => useView.setState({ leading: edge.id })}
        onReconnect={(edge, { source, target }) => void changeArrow(edge.id, { source, target })}
        onReconnectEnd={onReconnectEnd}
        isValidConnection={({ source, target }) => obstacle(useBoard.getState().board, source, target) === undefined}
        deleteKeyCode={null}
        selectNodesOnDrag={false}
        elevateNodesOnSelect={false}
        zoomOnDoubleClick={false}
        multiSelectionKeyCode={MULTI_KEYS}
        minZoom={0.05}
        fitView
        fitViewOptions={FIT}
      >
        <Background variant={BackgroundVariant.Dots} gap={22} size={1.5} color="var(--dot)" />
        <FrameLayer />
        <LabelLayer />
        {isEmpty ? null : <MiniMap pannable zoomable nodeColor={colorOf} nodeStrokeWidth={0} />}
        {isEmpty ? null : <Controls showInteractive={false} fitViewOptions={FIT} />}
      </ReactFlow>
      <SelectionBar />
      {isEmpty ? <BoardStart /> : null}
    </div>
  );
}

const MULTI_KEYS = ["Meta", "Control", "Shift"];

function onEdgesChange(changes: readonly EdgeChange[]): void {
  const picked = changes.filter((change) => change.type === "select");
  if (picked.length === 0) return;
  const { cards, arrows, choose } = useSelection.getState();
  const chosen = new Set(arrows);
  for (const { id, selected } of picked) {
    if (selected) chosen.add(id);
    else chosen.delete(id);
  }
  choose({ cards, arrows: [...chosen] });
}

/** An arrow was let go: anywhere on a card draws it there, on nothing asks what to put there. */
function onConnectEnd(event: globalThis.MouseEvent | TouchEvent, state: FinalConnectionState): void {
  const from = state.fromNode?.id;
  const isLed = useView.getState().leading !== undefined;
  useView.setState({ wiringFrom: undefined });
  if (from === undefined || state.isValid || isLed) return; // one that is led elsewhere ends in onReconnectEnd
  const { x, y, card, isBoard } = letGoAt(event);
  if (card !== undefined) {
    if (card !== from && isPossible(from, card)) void drawArrow(from, card);
  } else if (isBoard) {
    const at = useView.getState().flow?.screenToFlowPosition({ x, y });
    openPalette(at ? { from, at } : { from });
  }
}

/** An arrow's end was let go: anywhere on a card leads it there, elsewhere it stays as it was. */
function onReconnectEnd(
  event: globalThis.MouseEvent | TouchEvent,
  edge: Edge,
  fixed: HandleType,
  state: FinalConnectionState,
): void {
  useView.setState({ leading: undefined, wiringFrom: undefined });
  const { card } = letGoAt(event);
  if (state.isValid || card === undefined || card === edge.source || card === edge.target) return;
  const ends = fixed === "source" ? { source: edge.source, target: card } : { source: card, target: edge.target };
  if (isPossible(ends.source, ends.target)) void changeArrow(edge.id, ends);
}

function isPossible(source: string, target: string): boolean {
  const why = obstacle(useBoard.getState().board, source, target);
  if (why !== undefined) showToast({ tone: "info", text: say(`canvas.obstacle.${why}`) });
  return why === undefined;
}

/** What is under the pointer: a card, though not a group, or the board itself. */
function letGoAt(event: globalThis.MouseEvent | TouchEvent) {
  const touch = "changedTouches" in event ? event.changedTouches[0] : event;
  const { clientX: x, clientY: y } = touch ?? { clientX: 0, clientY: 0 };
  const under = document.elementFromPoint(x, y);
  const id = under?.closest<HTMLElement>(".react-flow__node")?.dataset.id;
  const found = id === undefined ? undefined : useBoard.getState().board.cards[id];
  const card = found === undefined || found.kind === "group" ? undefined : found.id;
  return { x, y, card, isBoard: card === undefined && under?.closest(".react-flow__pane, .react-flow__node") !== null };
}

function onDoubleClick(event: MouseEvent): void {
  const on = event.target as HTMLElement;
  const onEmpty = on.classList.contains("react-flow__pane") || on.closest(".card-shell[data-kind='group']") !== null;
  if (!onEmpty || on.closest(".card-shell-head")) return;
  const at = useView.getState().flow?.screenToFlowPosition({ x: event.clientX, y: event.clientY });
  openPalette(at ? { at } : {});
}

function colorOf(node: Node): string {
  const kind = (node.data.kind ?? "card") as Kind;
  return kind === "group" ? "var(--group-bg)" : `var(--kind-${kind})`;
}

/** What React Flow says to screen readers. */
function readerWords(text: Text) {
  return {
    "node.a11yDescription.default": text("canvas.reader.card"),
    "node.a11yDescription.keyboardDisabled": text("canvas.reader.card"),
    "node.a11yDescription.ariaLiveMessage": ({ x, y }: { direction: string; x: number; y: number }) =>
      text("canvas.reader.moved", { x: Math.round(x), y: Math.round(y) }),
    "edge.a11yDescription.default": text("canvas.reader.arrow"),
    "controls.ariaLabel": text("canvas.reader.controls"),
    "controls.zoomIn.ariaLabel": text("canvas.do.nearer"),
    "controls.zoomOut.ariaLabel": text("canvas.do.farther"),
    "controls.fitView.ariaLabel": text("canvas.do.fit"),
    "minimap.ariaLabel": text("canvas.reader.map"),
    "handle.ariaLabel": text("canvas.reader.handle"),
  };
}
