/** What an agent's card shows on the board: how it does and what it knows, and its program where it runs one. */

import { MessageCircle, ShieldQuestionMark } from "lucide-react";
import type { Card } from "../board/model.ts";
import { ArrowLabel } from "../calls/ArrowLabel.tsx";
import { useText } from "../i18n/text.ts";
import { useTerminals } from "../terminals/store.ts";
import { TerminalBody } from "../terminals/TerminalBody.tsx";
import { Badge, type Tone } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { commandOf } from "./program.ts";
import "./agent-body.css";
import { useAsking } from "./asking.ts";
import { Knowledge } from "./Knowledge.tsx";
import { showAgent } from "./tab.ts";

const TONES: Readonly<Record<string, Tone>> = { online: "ok", running: "ok", missing: "bad" };

export function AgentBody({ card }: { readonly card: Card }) {
  const text = useText();
  const state = useAgentState(card);
  const asks = useAsking(({ calls }) => card.agent_id != null && Object.values(calls).includes(card.agent_id));
  const runsProgram = commandOf(card) !== "";
  return (
    <div className={runsProgram ? "agent-body agent-body-program" : "agent-body"}>
      <div className="agent-body-head">
        <AgentState card={card} />
        {state === "online" ? (
          <Button
            small
            tone={asks ? "primary" : "quiet"}
            icon={asks ? ShieldQuestionMark : MessageCircle}
            className="nodrag"
            onClick={(event) => {
              event.stopPropagation();
              showAgent(card.id, "chat");
            }}
          >
            {text(asks ? "agents.asks" : "agents.tab.chat")}
          </Button>
        ) : null}
      </div>
      <Knowledge card={card} />
      <div className="agent-body-call">
        <ArrowLabel arrow={card.id} />
      </div>
      {runsProgram ? (
        <div className="agent-body-terminal">
          <TerminalBody card={card} />
        </div>
      ) : null}
    </div>
  );
}

export function AgentState({ card }: { readonly card: Card }) {
  const text = useText();
  const state = useAgentState(card);
  const known = state === "online" || state === "running" || state === "missing";
  const key = known ? (`agents.state.${state}` as "agents.state.online") : "agents.state.offline";
  return <Badge tone={TONES[state] ?? "neutral"}>{text(key)}</Badge>;
}

/** How an agent does; the board tells of its coming and going, its terminal of its program. */
function useAgentState(card: Card): string {
  const program = useTerminals((state) => state.cards[card.id]?.status);
  if (program === "working") return "running";
  return card.state === "running" && program !== undefined ? "offline" : card.state;
}
