/** The details of an agent. */

import type { Card } from "../board/model.ts";
import { useText } from "../i18n/text.ts";

export function AgentPanel({ card }: { readonly card: Card }) {
  const text = useText();
  return (
    <p className="agent-panel">
      {text("agents.agent")} · {card.state}
    </p>
  );
}
