/** The details of an agent: its tools, how a client becomes this agent, its program, and talking to it. */

import { lazy, Suspense } from "react";
import type { Card } from "../board/model.ts";
import { useText } from "../i18n/text.ts";
import { Waiting } from "../ui/Empty.tsx";
import { Tabs } from "../ui/Tabs.tsx";
import { AgentState } from "./AgentBody.tsx";
import { AgentProgram } from "./AgentProgram.tsx";
import { Connect } from "./Connect.tsx";
import { GrantedTools } from "./GrantedTools.tsx";
import { Knowledge } from "./Knowledge.tsx";
import { type AgentTab, keepTab, useAgentTab } from "./tab.ts";
import "./agent-panel.css";

const ChatPanel = lazy(async () => ({ default: (await import("../chat/ChatPanel.tsx")).ChatPanel }));

export function AgentPanel({ card }: { readonly card: Card }) {
  const text = useText();
  const tab = useAgentTab((state) => state.tab);
  const chat = (
    <Suspense fallback={<Waiting label={text("ui.loading")} />}>
      <ChatPanel card={card} />
    </Suspense>
  );
  const tabs = [
    { id: "tools", label: text("agents.tab.tools"), content: <GrantedTools card={card} /> },
    { id: "connect", label: text("agents.tab.connect"), content: <Connect card={card} /> },
    { id: "program", label: text("agents.tab.program"), content: <AgentProgram key={card.id} card={card} /> },
    { id: "chat", label: text("agents.tab.chat"), content: chat },
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
