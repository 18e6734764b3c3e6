/** The board on React Flow: cards as its nodes, arrows as its edges; what is dragged is saved when it is let go. */

import {
  applyNodeChanges,
  Background,
  BackgroundVariant,
  type Connection,
  ConnectionMode,
  Controls,
  type Edge,
  MiniMap,
  type Node,
  type NodeChange,
  ReactFlow,
  ReactFlowProvider,
} from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { Waypoints } from "lucide-react";
import { useCallback, useEffect, useMemo, useState } from "react";
import { useTheme } from "../app/theme.ts";
import { type Card, obstacle, sizeOf } from "../board/model.ts";
import { useSelection } from "../board/selection.ts";
import { changeCard, drawArrow, useBoard } from "../board/store.ts";
import { useText } from "../i18n/text.ts";
import { Empty } from "../ui/Empty.tsx";
import { ArrowLine } from "./ArrowLine.tsx";
import "./board-view.css";
import { CardShell } from "./CardShell.tsx";

const NODE_TYPES = { card: CardShell };
const EDGE_TYPES = { arrow: ArrowLine };

export function BoardView() {
  return (
    <ReactFlowProvider>
      <Flow />
    </ReactFlowProvider>
  );
}

function Flow() {
  const text = useText();
  const board = useBoard((state) => state.board);
  const name = useBoard((state) => state.workspace?.name ?? "");
  const theme = useTheme((state) => state.shown);
  const select = useSelection((state) => state.select);
  const [nodes, setNodes] = useState<Node[]>([]);
  useEffect(() => {
    setNodes((before) => nodesOf(board.cards, before));
  }, [board.cards]);
  const edges = useMemo<Edge[]>(
    () =>
      Object.values(board.arrows).map((arrow) => ({
        id: arrow.id,
        type: "arrow",
        source: arrow.source,
        target: arrow.target,
      })),
    [board.arrows],
  );
  const onNodesChange = useCallback(
    (changes: NodeChange[]) => setNodes((before) => applyNodeChanges(changes, before)),
    [],
  );
  const draw = (connection: Connection): void => void drawArrow(connection.source, connection.target);
  return (
    <div className="board-view" role="application" aria-label={text("canvas.label", { name })}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        colorMode={theme}
        connectionMode={ConnectionMode.Loose}
        onNodesChange={onNodesChange}
        onNodeDragStop={(_, __, dragged) => {
          for (const node of dragged) void changeCard(node.id, node.position);
        }}
        onConnect={draw}
        isValidConnection={({ source, target }) => obstacle(board, source, target) === undefined}
        onNodeClick={(_, node) => select({ kind: "card", id: node.id })}
        onEdgeClick={(_, edge) => select({ kind: "arrow", id: edge.id })}
        onPaneClick={() => select(undefined)}
        deleteKeyCode={null}
        minZoom={0.1}
        fitView
        fitViewOptions={{ maxZoom: 1, padding: 0.2 }}
      >
        <Background variant={BackgroundVariant.Dots} gap={22} size={1.5} color="var(--dot)" />
        <MiniMap pannable zoomable />
        <Controls />
      </ReactFlow>
      {nodes.length === 0 ? (
        <div className="board-empty">
          <Empty icon={Waypoints} title={text("canvas.empty.title")}>
            {text("canvas.empty.text")}
          </Empty>
        </div>
      ) : null}
    </div>
  );
}

/** React Flow's nodes for cards; one that is being dragged stays where the hand has it. */
function nodesOf(cards: Readonly<Record<string, Card>>, before: readonly Node[]): Node[] {
  const known = new Map(before.map((node) => [node.id, node]));
  return Object.values(cards).map((card) => {
    const old = known.get(card.id);
    return {
      ...old,
      id: card.id,
      type: "card",
      position: old?.dragging ? old.position : { x: card.x, y: card.y },
      ...sizeOf(card),
      data: {},
    };
  });
}
