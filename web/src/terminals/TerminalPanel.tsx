/** The details of a terminal. */

import type { Card } from "../board/model.ts";
import { useText } from "../i18n/text.ts";

export function TerminalPanel({ card }: { readonly card: Card }) {
  const text = useText();
  return (
    <p className="terminal-panel">
      {text("terminals.terminal")} · {card.state}
    </p>
  );
}
