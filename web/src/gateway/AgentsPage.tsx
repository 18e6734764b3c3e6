/** All agents of the gateway, and registering one. */

import { Bot } from "lucide-react";
import { useState } from "react";
import { api, ask } from "../api/client.ts";
import { useAsked } from "../api/useAsked.ts";
import { useText } from "../i18n/text.ts";
import { AskedView } from "../ui/AskedView.tsx";
import { Badge } from "../ui/Badge.tsx";
import { Empty } from "../ui/Empty.tsx";
import { TextField } from "../ui/Field.tsx";
import { type Agent, readAgents } from "./agents.ts";
import "./agents-page.css";
import { FormDialog } from "./FormDialog.tsx";
import { MakeSecret, type Making } from "./MakeSecret.tsx";
import { PageFrame } from "./PageFrame.tsx";
import { PageLink } from "./PageLink.tsx";
import { useSending } from "./useSending.ts";

export function AgentsPage() {
  const text = useText();
  const asked = useAsked("agents", readAgents);
  const make = (
    <MakeSecret
      title={text("gateway.agents.new")}
      text={text("gateway.agent.created")}
      label={text("gateway.agent.key")}
      form={(making) => <NewAgent {...making} />}
      onMade={() => void asked.again()}
    />
  );
  return (
    <PageFrame title={text("gateway.agents.title")} text={text("gateway.agents.text")} actions={make}>
      <AskedView asked={asked}>
        {(agents) =>
          agents.length === 0 ? (
            <Empty icon={Bot} title={text("gateway.agents.none")}>
              {text("gateway.agents.none_text")}
            </Empty>
          ) : (
            <ul className="agents-list">
              {agents.map((agent) => (
                <AgentRow key={agent.agent_id} agent={agent} />
              ))}
            </ul>
          )
        }
      </AskedView>
    </PageFrame>
  );
}

function AgentRow({ agent }: { readonly agent: Agent }) {
  const text = useText();
  const count = agent.skills.filter((skill) => skill.exposeAsTool !== false).length;
  return (
    <li>
      <PageLink to={{ page: "gateway", section: "agents", rest: agent.agent_id }} className="agents-row">
        <span className="agents-mark" aria-hidden>
          <Bot size={18} />
        </span>
        <span className="agents-words">
          <strong>{agent.display_name || agent.name}</strong>
          <span className="agents-about">{agent.description || agent.agent_id}</span>
        </span>
        <span className="agents-count">{text("gateway.agents.tools", { count })}</span>
        <Badge tone={agent.attached ? "ok" : "neutral"}>
          {text(agent.attached ? "gateway.agents.attached" : "gateway.agents.away")}
        </Badge>
      </PageLink>
    </li>
  );
}

function NewAgent({ onClose, onMade }: Making) {
  const text = useText();
  const sending = useSending();
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const submit = async (): Promise<void> => {
    const made = await ask(api.POST("/api/v1/agents", { body: { name, description: description || null } }));
    onMade(made.agent_key);
  };
  return (
    <FormDialog
      title={text("gateway.agents.new")}
      submit={text("gateway.agents.new")}
      sending={sending}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label={text("gateway.agent.name")}
        hint={text("gateway.agent.name_hint")}
        value={name}
        required
        autoFocus
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        label={text("gateway.agent.description")}
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
    </FormDialog>
  );
}
