/** Above the board: which of its agents wait for an answer of the owner, and the way to it. */

import { ShieldQuestionMark } from "lucide-react";
import { useEffect } from "react";
import { useBoard } from "../board/store.ts";
import { useText } from "../i18n/text.ts";
import { Button } from "../ui/Button.tsx";
import { readAsking, useAsking } from "./asking.ts";
import "./asking-bar.css";
import { showAgent } from "./tab.ts";

export function AskingBar() {
  const text = useText();
  const calls = useAsking((state) => state.calls);
  const cards = useBoard((state) => state.board.cards);
  useEffect(() => {
    void readAsking();
  }, []);
  const waiting = new Set(Object.values(calls));
  const asking = Object.values(cards).filter((card) => card.agent_id && waiting.has(card.agent_id));
  if (asking.length === 0) return null;
  return (
    <ul className="asking-bar" aria-label={text("agents.asking")}>
      {asking.map((card) => (
        <li key={card.id}>
          <ShieldQuestionMark aria-hidden size={16} />
          <span>{text("agents.asks_you", { name: card.title })}</span>
          <Button small onClick={() => showAgent(card.id, "chat")}>
            {text("agents.look")}
          </Button>
        </li>
      ))}
    </ul>
  );
}
