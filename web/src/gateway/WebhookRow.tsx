/** One webhook: how it does, what was sent to it, and sending again what was given up. */

import { ChevronDown, ChevronRight, RotateCw, Trash2 } from "lucide-react";
import { useEffect, useState } from "react";
import { api, ask, messageOf, type Schemas } from "../api/client.ts";
import { useAsked } from "../api/useAsked.ts";
import { useText } from "../i18n/text.ts";
import { AskedView } from "../ui/AskedView.tsx";
import { Badge, type Tone } from "../ui/Badge.tsx";
import { Button, IconButton } from "../ui/Button.tsx";
import { ConfirmDialog } from "../ui/ConfirmDialog.tsx";
import { type Column, Table } from "../ui/Table.tsx";
import { showToast } from "../ui/toasts.ts";
import { When } from "../ui/When.tsx";

export type Hook = Schemas["RegisteredWebhook"];
type Sent = Schemas["SentEvent"];

interface WebhookRowProps {
  readonly hook: Hook;
  readonly onChanged: () => Promise<void>;
}

export function WebhookRow({ hook, onChanged }: WebhookRowProps) {
  const text = useText();
  const [isOpen, setIsOpen] = useState(false);
  const [isRemoving, setIsRemoving] = useState(false);
  const path = { agent: hook.agent_id, webhook: hook.webhook_id };
  return (
    <li className="webhook">
      <header className="webhook-head">
        <span className="webhook-url">{hook.url}</span>
        {hook.has_secret ? <Badge>{text("gateway.webhooks.signed")}</Badge> : null}
        {hook.disabled_at ? (
          <Badge tone="bad">{text("gateway.webhooks.disabled", { reason: hook.disabled_reason ?? "" })}</Badge>
        ) : (
          <Badge tone="ok">{text("gateway.webhooks.working")}</Badge>
        )}
        <IconButton small icon={Trash2} label={text("gateway.webhooks.remove")} onClick={() => setIsRemoving(true)} />
      </header>
      <p className="page-text">{hook.events.join(", ")}</p>
      <Button
        small
        tone="quiet"
        className="webhook-more"
        icon={isOpen ? ChevronDown : ChevronRight}
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
      >
        {text("gateway.webhooks.deliveries")}
      </Button>
      {isOpen ? <Deliveries agent={path.agent} webhook={path.webhook} /> : null}
      {isRemoving ? (
        <ConfirmDialog
          title={text("gateway.webhooks.remove")}
          message={text("gateway.webhooks.remove_text", { url: hook.url })}
          confirm={text("gateway.webhooks.remove")}
          onClose={() => setIsRemoving(false)}
          onConfirm={async () => {
            await ask(api.DELETE("/api/v1/agents/{agent}/webhooks/{webhook}", { params: { path } }));
            await onChanged();
          }}
        />
      ) : null}
    </li>
  );
}

const TONES: Readonly<Record<string, Tone>> = { succeeded: "ok", dead_letter: "bad", failed: "bad", pending: "info" };

/** How often is looked whether what waits to be sent has been. */
const PENDING_MS = 2_000;

function Deliveries({ agent, webhook }: { readonly agent: string; readonly webhook: string }) {
  const text = useText();
  const asked = useAsked(`deliveries/${webhook}`, () => {
    const path = { agent, webhook };
    return ask(api.GET("/api/v1/agents/{agent}/webhooks/{webhook}/deliveries", { params: { path } }));
  });
  const { data, again } = asked;
  useEffect(() => {
    if (!data?.some((one) => one.status === "pending")) return;
    const timer = window.setTimeout(() => void again(), PENDING_MS);
    return () => window.clearTimeout(timer);
  }, [data, again]);
  const attempt = async (done: () => Promise<string>): Promise<void> => {
    try {
      showToast({ tone: "ok", text: await done() });
    } catch (error) {
      showToast({ tone: "bad", text: messageOf(error) });
    }
    await asked.again();
  };
  const redeliver = async (sent: Sent): Promise<string> => {
    const path = { agent, webhook, delivery: sent.delivery_id };
    await ask(
      api.POST("/api/v1/agents/{agent}/webhooks/{webhook}/deliveries/{delivery}/redeliver", { params: { path } }),
    );
    return text("gateway.webhooks.redelivered");
  };
  const replay = async (): Promise<string> => {
    const path = { agent, webhook };
    const { replayed } = await ask(
      api.POST("/api/v1/agents/{agent}/webhooks/{webhook}/replay", { params: { path }, body: {} }),
    );
    return text("gateway.webhooks.replayed", { count: replayed });
  };
  const columns: readonly Column<Sent>[] = [
    { id: "event", head: text("gateway.webhooks.event"), cell: (sent) => sent.event },
    {
      id: "status",
      head: text("gateway.webhooks.state"),
      cell: (sent) => <Badge tone={TONES[sent.status] ?? "neutral"}>{sent.status}</Badge>,
    },
    {
      id: "answer",
      head: text("gateway.webhooks.answer"),
      cell: (sent) => sent.last_error ?? sent.last_response_status ?? "–",
    },
    { id: "tries", head: text("gateway.webhooks.tries"), cell: (sent) => sent.attempt_num },
    {
      id: "when",
      head: text("gateway.webhooks.when"),
      cell: (sent) => (sent.created_at ? <When at={sent.created_at} /> : "–"),
    },
    {
      id: "actions",
      head: "",
      end: true,
      cell: (sent) =>
        sent.status === "dead_letter" || sent.status === "failed" ? (
          <Button small icon={RotateCw} onClick={() => void attempt(() => redeliver(sent))}>
            {text("gateway.webhooks.redeliver")}
          </Button>
        ) : null,
    },
  ];
  return (
    <AskedView asked={asked}>
      {(sent) =>
        sent.length === 0 ? (
          <p className="page-text">{text("gateway.webhooks.no_deliveries")}</p>
        ) : (
          <div className="page-section">
            <Table
              label={text("gateway.webhooks.deliveries")}
              columns={columns}
              rows={sent}
              keyOf={(one) => one.delivery_id}
            />
            {sent.some((one) => one.status === "dead_letter" || one.status === "failed") ? (
              <div className="page-buttons">
                <Button onClick={() => void attempt(replay)}>{text("gateway.webhooks.replay")}</Button>
              </div>
            ) : null}
          </div>
        )
      }
    </AskedView>
  );
}
