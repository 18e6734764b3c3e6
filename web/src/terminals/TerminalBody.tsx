/** A terminal on the board. */

import type { Card } from "../board/model.ts";
import { useText } from "../i18n/text.ts";
import { useTerminals } from "./store.ts";
import { TerminalPane } from "./TerminalPane.tsx";

export function TerminalBody({ card }: { readonly card: Card }) {
  const text = useText();
  const isLarge = useTerminals((state) => state.large === card.id);
  if (isLarge) return <p className="terminal-elsewhere">{text("terminals.enlarged")}</p>;
  return <TerminalPane card={card} onBoard onLeave={focusCard} />;
}

/** The card on the board gets the focus, from where the keyboard goes on. */
function focusCard(place: HTMLElement): void {
  const card = place.closest<HTMLElement>(".react-flow__node");
  if (card) card.focus();
  else if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}
