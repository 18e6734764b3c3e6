/** What every card on the board has: a head with its kind, name and state, handles to wire it, and its kind's body. */

import { Handle, type NodeProps, Position } from "@xyflow/react";
import { Bot, type LucideIcon, Puzzle, SquareDashed, SquareTerminal, StickyNote } from "lucide-react";
import { memo } from "react";
import { AgentBody } from "../agents/AgentBody.tsx";
import type { Card, Kind } from "../board/model.ts";
import { useBoard } from "../board/store.ts";
import { CardBody } from "../cards/CardBody.tsx";
import { useText } from "../i18n/text.ts";
import { TerminalBody } from "../terminals/TerminalBody.tsx";
import { NoteBody } from "./NoteBody.tsx";

export const KIND_ICONS: Readonly<Record<Kind, LucideIcon>> = {
  agent: Bot,
  card: Puzzle,
  terminal: SquareTerminal,
  note: StickyNote,
  group: SquareDashed,
};

export const CardShell = memo(function CardShell({ id }: NodeProps) {
  const text = useText();
  const card = useBoard((state) => state.board.cards[id]);
  if (card === undefined) return null;
  const Icon = KIND_ICONS[card.kind];
  return (
    <article className="card-shell" data-kind={card.kind} aria-label={`${text(`kind.${card.kind}`)}: ${card.title}`}>
      <header className="card-shell-head">
        <Icon aria-hidden size={16} className={`kind-${card.kind}`} />
        <h3>{card.title}</h3>
      </header>
      <div className="card-shell-body">
        <Body card={card} />
      </div>
      <Handle id="left" type="source" position={Position.Left} />
      <Handle id="right" type="source" position={Position.Right} />
    </article>
  );
});

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
