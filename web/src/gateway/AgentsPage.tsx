/** All agents of the gateway, and registering one. */

import { Bot, Plus } from "lucide-react";
import { useState } from "react";
import { api, ask } from "../api/client.ts";
import { useAsked } from "../api/useAsked.ts";
import { useText } from "../i18n/text.ts";
import { AskedView } from "../ui/AskedView.tsx";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Empty } from "../ui/Empty.tsx";
import { TextField } from "../ui/Field.tsx";
import { type Agent, readAgents } from "./agents.ts";
import "./agents-page.css";
import { FormDialog } from "./FormDialog.tsx";
import { PageFrame } from "./PageFrame.tsx";
import { PageLink } from "./PageLink.tsx";
import { SecretDialog } from "./SecretDialog.tsx";
import { useSending } from "./useSending.ts";

export function AgentsPage() {
  const text = useText();
  const asked = useAsked("agents", readAgents);
  const [isMaking, setIsMaking] = useState(false);
  const [secret, setSecret] = useState<string>();
  const make = (
    <Button tone="primary" icon={Plus} onClick={() => setIsMaking(true)}>
      {text("gateway.agents.new")}
    </Button>
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
      {isMaking ? (
        <NewAgent
          onClose={() => setIsMaking(false)}
          onMade={(key) => {
            setSecret(key);
            void asked.again();
          }}
        />
      ) : null}
      {secret ? (
        <SecretDialog
          title={text("gateway.agents.new")}
          text={text("gateway.agent.created")}
          label={text("gateway.agent.key")}
          secret={secret}
          onClose={() => setSecret(undefined)}
        />
      ) : null}
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

function NewAgent({ onClose, onMade }: { readonly onClose: () => void; readonly onMade: (key: string) => void }) {
  const text = useText();
  const sending = useSending();
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const submit = async (): Promise<void> => {
    const made = await ask(api.POST("/api/v1/agents", { body: { name, description: description || null } }));
    onClose();
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
