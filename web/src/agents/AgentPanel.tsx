/** The details of an agent: its tools, how a client becomes this agent, its program. */

import type { Card } from "../board/model.ts";
import { useText } from "../i18n/text.ts";
import { Tabs } from "../ui/Tabs.tsx";
import { AgentState } from "./AgentBody.tsx";
import { AgentProgram } from "./AgentProgram.tsx";
import { Connect } from "./Connect.tsx";
import { GrantedTools } from "./GrantedTools.tsx";
import { Knowledge } from "./Knowledge.tsx";
import { type AgentTab, keepTab, useAgentTab } from "./tab.ts";
import "./agent-panel.css";

export function AgentPanel({ card }: { readonly card: Card }) {
  const text = useText();
  const tab = useAgentTab((state) => state.tab);
  const tabs = [
    { id: "tools", label: text("agents.tab.tools"), content: <GrantedTools card={card} /> },
    { id: "connect", label: text("agents.tab.connect"), content: <Connect card={card} /> },
    { id: "program", label: text("agents.tab.program"), content: <AgentProgram key={card.id} card={card} /> },
  ];
  return (
    <div className="agent-panel">
      <div className="agent-panel-head">
        <AgentState card={card} />
        <Knowledge card={card} />
      </div>
      <Tabs label={card.title} tabs={tabs} value={tab} onChange={(id) => keepTab(id as AgentTab)} />
    </div>
  );
}
