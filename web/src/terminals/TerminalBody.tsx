/** A terminal on the board. */

import type { Card } from "../board/model.ts";
import { useText } from "../i18n/text.ts";

export function TerminalBody({ card }: { readonly card: Card }) {
  const text = useText();
  return (
    <p className="terminal-body">
      {text("terminals.terminal")} · {card.state}
    </p>
  );
}
