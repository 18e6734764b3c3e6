/** The details of the card or arrow that is selected; what they are is the business of its room. */

import { X } from "lucide-react";
import { AgentPanel } from "../agents/AgentPanel.tsx";
import type { Card } from "../board/model.ts";
import { useSelection } from "../board/selection.ts";
import { useBoard } from "../board/store.ts";
import { ArrowPanel } from "../calls/ArrowPanel.tsx";
import { CardPanel } from "../cards/CardPanel.tsx";
import { useText } from "../i18n/text.ts";
import { TerminalPanel } from "../terminals/TerminalPanel.tsx";
import { IconButton } from "../ui/Button.tsx";
import "../ui/title-bar.css";

export function Inspector() {
  const text = useText();
  const { selected, select } = useSelection();
  const board = useBoard((state) => state.board);
  const card = selected?.kind === "card" ? board.cards[selected.id] : undefined;
  const arrow = selected?.kind === "arrow" ? board.arrows[selected.id] : undefined;
  if (card?.kind === "note" || card?.kind === "group" || (card === undefined && arrow === undefined)) return null;
  const [from, to] = arrow ? [board.cards[arrow.source], board.cards[arrow.target]] : [];
  return (
    <aside className="inspector" aria-label={text("inspector.label")}>
      <header className="title-bar inspector-head">
        <h2>{card ? card.title : `${from?.title ?? ""} → ${to?.title ?? ""}`}</h2>
        <IconButton icon={X} label={text("ui.close")} onClick={() => select(undefined)} />
      </header>
      <div className="inspector-body">
        {card ? <CardDetails key={card.id} card={card} /> : null}
        {arrow ? <ArrowPanel key={arrow.id} arrow={arrow} /> : null}
      </div>
    </aside>
  );
}

function CardDetails({ card }: { readonly card: Card }) {
  switch (card.kind) {
    case "agent":
      return <AgentPanel card={card} />;
    case "card":
      return <CardPanel card={card} />;
    case "terminal":
      return <TerminalPanel card={card} />;
    case "note":
    case "group":
      return null;
  }
}
