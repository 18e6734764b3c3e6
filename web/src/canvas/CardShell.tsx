/** What every card on the board has: a head with its kind, name and state, handles to wire it, and its kind's body. */

import { Handle, type NodeProps, NodeResizer, type ResizeParams } from "@xyflow/react";
import { memo, useState } from "react";
import { AgentBody } from "../agents/AgentBody.tsx";
import { type Card, obstacle } from "../board/model.ts";
import { useSelection } from "../board/selection.ts";
import { changeCard, useBoard } from "../board/store.ts";
import { ActivityWords } from "../calls/ActivityWords.tsx";
import { useActivity } from "../calls/activity.ts";
import { CardBody } from "../cards/CardBody.tsx";
import { useText } from "../i18n/text.ts";
import { TerminalBody } from "../terminals/TerminalBody.tsx";
import "../ui/title-bar.css";
import { SIDES } from "./handles.ts";
import { KIND_ICONS, LEAST } from "./kinds.ts";
import { NoteBody } from "./NoteBody.tsx";
import { openWindow, useView } from "./view.ts";

/** Where nothing can hover, arrows begin at handles that are always there. */
const CANNOT_HOVER = window.matchMedia("(hover: none)").matches;

export const CardShell = memo(function CardShell({ id, selected }: NodeProps) {
  const [isHovered, setHovered] = useState(false);
  const isOnly = useSelection((state) => state.selected?.id === id);
  const card = useBoard((state) => state.board.cards[id]);
  const activity = useActivity(id);
  if (card === undefined) return null;
  const Icon = KIND_ICONS[card.kind];
  return (
    <article
      className="card-shell"
      data-kind={card.kind}
      data-activity={activity}
      onPointerEnter={() => setHovered(true)}
      onPointerLeave={() => setHovered(false)}
    >
      {isOnly ? <NodeResizer {...LEAST[card.kind]} onResizeEnd={(_, size) => resized(id, size)} /> : null}
      <header className="title-bar card-shell-head">
        <Icon aria-hidden size={16} className={`kind-${card.kind}`} />
        <h3 onDoubleClick={() => openWindow({ is: "rename", card: id })}>{card.title}</h3>
        <ActivityWords activity={activity} />
      </header>
      <div className="card-shell-body">
        <Body card={card} />
      </div>
      <WiringObstacle id={id} />
      {card.kind !== "group" && (isHovered || selected || CANNOT_HOVER) ? <Handles /> : null}
    </article>
  );
});

/** Only where they are wanted: with hundreds of cards, they would be most of what is on the page. */
function Handles() {
  return SIDES.map((side) => <Handle key={side} id={side} type="source" position={side} />);
}

/** While an arrow is drawn: why it cannot end here. */
function WiringObstacle({ id }: { readonly id: string }) {
  const text = useText();
  const from = useView((state) => state.wiringFrom);
  if (from === undefined || from === id) return null;
  const why = obstacle(useBoard.getState().board, from, id);
  if (why === undefined) return null;
  return (
    <div className="card-shell-obstacle">
      <span>{text(`canvas.obstacle.${why}`)}</span>
    </div>
  );
}

function resized(id: string, { x, y, width, height }: ResizeParams): void {
  const [left, top] = [Math.round(x), Math.round(y)];
  void changeCard(id, { x: left, y: top, width: Math.round(width), height: Math.round(height) });
}

function Body({ card }: { readonly card: Card }) {
  switch (card.kind) {
    case "agent":
      return <AgentBody card={card} />;
    case "card":
      return <CardBody card={card} />;
    case "terminal":
      return <TerminalBody card={card} />;
    case "note":
      return <NoteBody card={card} />;
    case "group":
      return null;
  }
}
