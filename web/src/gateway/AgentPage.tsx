/** One agent: its address, its tools to try, and what its owner may change. */

import { ArrowLeft } from "lucide-react";
import { useState } from "react";
import { api, ask, messageOf, type Schemas } from "../api/client.ts";
import { useAsked } from "../api/useAsked.ts";
import { go } from "../app/routes.ts";
import { useText } from "../i18n/text.ts";
import { AskedView } from "../ui/AskedView.tsx";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { ConfirmDialog } from "../ui/ConfirmDialog.tsx";
import { Copyable } from "../ui/Copyable.tsx";
import { CheckField } from "../ui/Field.tsx";
import { showToast } from "../ui/toasts.ts";
import { When } from "../ui/When.tsx";
import { type Agent, readAgent } from "./agents.ts";
import "./agents-page.css";
import { PageFrame } from "./PageFrame.tsx";
import { PageLink } from "./PageLink.tsx";
import { TryTool } from "./TryTool.tsx";

type Skill = Agent["skills"][number];

export function AgentPage({ id }: { readonly id: string }) {
  const text = useText();
  const asked = useAsked(`agent/${id}`, () => readAgent(id));
  const agent = asked.data;
  const back = (
    <PageLink
      to={{ page: "gateway", section: "agents", rest: undefined }}
      className="button button-quiet button-small page-back"
    >
      <ArrowLeft aria-hidden size={14} />
      {text("gateway.agents.all")}
    </PageLink>
  );
  const state = agent ? (
    <Badge tone={agent.attached ? "ok" : "neutral"}>
      {text(agent.attached ? "gateway.agents.attached" : "gateway.agents.away")}
    </Badge>
  ) : null;
  return (
    <PageFrame
      title={agent ? agent.display_name || agent.name : id}
      {...(agent?.description ? { text: agent.description } : {})}
      before={back}
      actions={state}
    >
      <AskedView asked={asked}>{(shown) => <Details agent={shown} onChanged={asked.again} />}</AskedView>
    </PageFrame>
  );
}

interface DetailsProps {
  readonly agent: Agent;
  readonly onChanged: () => Promise<void>;
}

function Details({ agent, onChanged }: DetailsProps) {
  const text = useText();
  const [tried, setTried] = useState<Skill>();
  const tools = agent.skills.filter((skill) => skill.exposeAsTool !== false);
  return (
    <>
      <dl className="page-facts page-panel">
        <dt>{text("gateway.agent.address")}</dt>
        <dd>
          <Copyable label={text("gateway.agent.address")} value={agent.mcp_url} />
        </dd>
        {agent.version ? (
          <>
            <dt>{text("gateway.agent.version")}</dt>
            <dd>{agent.version}</dd>
          </>
        ) : null}
        {agent.synced_at ? (
          <>
            <dt>{text("gateway.agent.synced")}</dt>
            <dd>
              <When at={agent.synced_at} />
            </dd>
          </>
        ) : null}
      </dl>
      <section className="page-section">
        <h2>{text("gateway.agent.tools")}</h2>
        {tools.length === 0 ? <p className="page-text">{text("gateway.agent.no_tools")}</p> : null}
        <ul className="agent-tools">
          {tools.map((tool) => (
            <li key={tool.name} className="agent-tool">
              <h3>{tool.name}</h3>
              <Button
                small
                aria-label={`${text("gateway.try.open")}: ${tool.name}`}
                disabled={!agent.attached}
                onClick={() => setTried(tool)}
              >
                {text("gateway.try.open")}
              </Button>
              {tool.description ? <p>{tool.description}</p> : null}
            </li>
          ))}
        </ul>
      </section>
      <AgentSettings agent={agent} onChanged={onChanged} />
      {tried ? <TryTool agent={agent.agent_id} tool={tried} onClose={() => setTried(undefined)} /> : null}
    </>
  );
}

function AgentSettings({ agent, onChanged }: DetailsProps) {
  const text = useText();
  const [isRemoving, setIsRemoving] = useState(false);
  const path = { params: { path: { agent: agent.agent_id } } };
  const change = async (patch: Schemas["AgentPatch"]): Promise<void> => {
    try {
      await ask(api.PATCH("/api/v1/agents/{agent}", { ...path, body: patch }));
    } catch (error) {
      showToast({ tone: "bad", text: messageOf(error) });
    }
    await onChanged();
  };
  return (
    <section className="page-section">
      <h2>{text("gateway.agent.settings")}</h2>
      <div className="page-panel">
        <CheckField
          label={text("gateway.agent.mcp_enabled")}
          hint={text("gateway.agent.mcp_enabled_hint")}
          checked={agent.mcp_enabled}
          onChange={(event) => void change({ mcp_enabled: event.target.checked })}
        />
        <CheckField
          label={text("gateway.agent.public")}
          hint={text("gateway.agent.public_hint")}
          checked={agent.visibility === "public"}
          onChange={(event) => void change({ visibility: event.target.checked ? "public" : "private" })}
        />
        <CheckField
          label={text("gateway.agent.pinned")}
          hint={text("gateway.agent.pinned_hint")}
          checked={agent.pinned}
          onChange={(event) => void change({ pinned: event.target.checked })}
        />
        <Button tone="danger" onClick={() => setIsRemoving(true)}>
          {text("gateway.agent.remove")}
        </Button>
      </div>
      {isRemoving ? (
        <ConfirmDialog
          title={text("gateway.agent.remove")}
          message={text("gateway.agent.remove_text", { name: agent.name })}
          confirm={text("gateway.agent.remove")}
          onClose={() => setIsRemoving(false)}
          onConfirm={async () => {
            await ask(api.DELETE("/api/v1/agents/{agent}", path));
            go({ page: "gateway", section: "agents", rest: undefined });
          }}
        />
      ) : null}
    </section>
  );
}
