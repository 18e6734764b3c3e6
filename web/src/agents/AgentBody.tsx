/** What an agent's card shows on the board. */

import type { Card } from "../board/model.ts";
import { useText } from "../i18n/text.ts";

export function AgentBody({ card }: { readonly card: Card }) {
  const text = useText();
  return (
    <p className="agent-body">
      {text("agents.agent")} · {card.state}
    </p>
  );
}
