/** The webhooks of an agent, what was sent to them, and sending it again. */

import { Plus, Webhook } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api, ask } from "../api/client.ts";
import { useAsked } from "../api/useAsked.ts";
import { go } from "../app/routes.ts";
import { useText } from "../i18n/text.ts";
import { AskedView } from "../ui/AskedView.tsx";
import { Button } from "../ui/Button.tsx";
import { Empty } from "../ui/Empty.tsx";
import { SelectField } from "../ui/Field.tsx";
import { type Agent, readAgents } from "./agents.ts";
import { NewWebhook } from "./NewWebhook.tsx";
import { PageFrame } from "./PageFrame.tsx";
import { type Hook, WebhookRow } from "./WebhookRow.tsx";
import "./webhooks-page.css";

async function readHooks(agent: string): Promise<readonly Hook[]> {
  return ask(api.GET("/api/v1/agents/{agent}/webhooks", { params: { path: { agent } } }));
}

export function WebhooksPage({ agent }: { readonly agent: string | undefined }) {
  const text = useText();
  const agents = useAsked("agents", readAgents);
  const chosen = agent ?? agents.data?.[0]?.agent_id;
  return (
    <PageFrame title={text("gateway.webhooks.title")} text={text("gateway.webhooks.text")}>
      <AskedView asked={agents}>
        {(known) =>
          known.length === 0 || chosen === undefined ? (
            <Empty icon={Webhook} title={text("gateway.agents.none")}>
              {text("gateway.agents.none_text")}
            </Empty>
          ) : (
            <Hooks key={chosen} agent={chosen} choice={<AgentChoice agents={known} chosen={chosen} />} />
          )
        }
      </AskedView>
    </PageFrame>
  );
}

function AgentChoice({ agents, chosen }: { readonly agents: readonly Agent[]; readonly chosen: string }) {
  const text = useText();
  return (
    <SelectField
      label={text("gateway.keys.agent")}
      value={chosen}
      onChange={(event) => go({ page: "gateway", section: "webhooks", rest: event.target.value })}
    >
      {agents.map((one) => (
        <option key={one.agent_id} value={one.agent_id}>
          {one.display_name || one.name}
        </option>
      ))}
    </SelectField>
  );
}

function Hooks({ agent, choice }: { readonly agent: string; readonly choice: ReactNode }) {
  const text = useText();
  const asked = useAsked(`webhooks/${agent}`, () => readHooks(agent));
  const [isMaking, setIsMaking] = useState(false);
  const make = (
    <Button tone="primary" icon={Plus} onClick={() => setIsMaking(true)}>
      {text("gateway.webhooks.new")}
    </Button>
  );
  return (
    <>
      <AskedView asked={asked}>
        {(hooks) =>
          hooks.length === 0 ? (
            <section className="page-section">
              <div className="webhooks-bar">{choice}</div>
              <Empty icon={Webhook} title={text("gateway.webhooks.none")} action={make} />
            </section>
          ) : (
            <section className="page-section">
              <div className="webhooks-bar">
                {choice}
                {make}
              </div>
              <ul className="webhooks">
                {hooks.map((hook) => (
                  <WebhookRow key={hook.webhook_id} hook={hook} onChanged={asked.again} />
                ))}
              </ul>
            </section>
          )
        }
      </AskedView>
      {isMaking ? <NewWebhook agent={agent} onClose={() => setIsMaking(false)} onMade={asked.again} /> : null}
    </>
  );
}
