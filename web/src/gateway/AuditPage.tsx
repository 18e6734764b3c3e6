/** Who called what, when and with which outcome, the newest first. */

import { ScrollText } from "lucide-react";
import { useState } from "react";
import { messageOf } from "../api/client.ts";
import { useAsked } from "../api/useAsked.ts";
import { useText } from "../i18n/text.ts";
import { AskedView } from "../ui/AskedView.tsx";
import { Badge, type Tone } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Empty } from "../ui/Empty.tsx";
import { type Column, Table } from "../ui/Table.tsx";
import { showToast } from "../ui/toasts.ts";
import { When } from "../ui/When.tsx";
import { readAgents } from "./agents.ts";
import { ALL_PATH, type AuditEntry, firstBreak, readEntries, STATUSES } from "./audit.ts";
import { PageFrame } from "./PageFrame.tsx";

const PAGE = 100;
const TONES: Readonly<Record<string, Tone>> = {
  completed: "ok",
  failed: "bad",
  timeout: "bad",
  rejected: "warn",
  canceled: "neutral",
};

export function AuditPage() {
  const text = useText();
  const asked = useAsked("audit", () => readEntries(PAGE));
  const all = (
    <a className="button button-plain" href={ALL_PATH} download="audit.jsonl">
      {text("gateway.audit.export")}
    </a>
  );
  return (
    <PageFrame title={text("gateway.audit.title")} text={text("gateway.audit.text")} actions={all}>
      <AskedView asked={asked}>
        {(newest) =>
          newest.length === 0 ? (
            <Empty icon={ScrollText} title={text("gateway.audit.none")} />
          ) : (
            <Chain newest={newest} />
          )
        }
      </AskedView>
    </PageFrame>
  );
}

function Chain({ newest }: { readonly newest: readonly AuditEntry[] }) {
  const text = useText();
  const [older, setOlder] = useState<readonly AuditEntry[]>([]);
  const [hasMore, setHasMore] = useState(newest.length === PAGE);
  const [busy, setBusy] = useState(false);
  const entries = [...newest, ...older];
  const oldest = entries.at(-1)?.seq ?? 1;
  const showOlder = async (): Promise<void> => {
    setBusy(true);
    try {
      const more = await readEntries(PAGE, oldest);
      setOlder((before) => [...before, ...more]);
      setHasMore(more.length === PAGE);
    } catch (error) {
      showToast({ tone: "bad", text: messageOf(error) });
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className="page-section">
      <Holds entries={entries} />
      <Table
        label={text("gateway.audit.title")}
        columns={useColumns()}
        rows={entries}
        keyOf={(one) => String(one.seq)}
      />
      {hasMore ? (
        <Button busy={busy} onClick={() => void showOlder()}>
          {text("gateway.audit.older")}
        </Button>
      ) : null}
    </section>
  );
}

function Holds({ entries }: { readonly entries: readonly AuditEntry[] }) {
  const text = useText();
  const broken = firstBreak(entries);
  if (broken !== undefined) return <Badge tone="bad">{text("gateway.audit.broken", { at: broken })}</Badge>;
  const values = { first: entries.at(-1)?.seq ?? 0, last: entries[0]?.seq ?? 0 };
  return <p className="page-text">{text("gateway.audit.holds", values)}</p>;
}

function useColumns(): readonly Column<AuditEntry>[] {
  const text = useText();
  const agents = useAsked("agents", readAgents);
  const names = new Map(agents.data?.map((agent) => [agent.agent_id, agent.display_name || agent.name]));
  const named = (id: string): string => names.get(id) ?? id;
  return [
    { id: "seq", head: text("gateway.audit.number"), cell: (one) => one.seq },
    { id: "when", head: text("gateway.audit.when"), cell: (one) => <When at={one.ended_at} /> },
    { id: "tool", head: text("gateway.audit.tool"), cell: (one) => <code>{one.tool}</code> },
    { id: "agent", head: text("gateway.audit.agent"), cell: (one) => named(one.agent_id) },
    { id: "by", head: text("gateway.audit.by"), cell: (one) => named(one.principal) },
    { id: "over", head: text("gateway.audit.over"), brief: true, cell: (one) => one.surface },
    { id: "outcome", head: text("gateway.audit.outcome"), cell: (one) => <Outcome entry={one} /> },
    { id: "took", head: text("gateway.audit.took"), end: true, cell: took },
  ];
}

function Outcome({ entry }: { readonly entry: AuditEntry }) {
  const text = useText();
  const status = STATUSES.find((one) => one === entry.status);
  return (
    <span title={entry.error_code}>
      <Badge tone={TONES[entry.status] ?? "neutral"}>
        {status ? text(`gateway.audit.status.${status}`) : entry.status}
      </Badge>
    </span>
  );
}

function took(entry: AuditEntry): string {
  const ms = Date.parse(entry.ended_at) - Date.parse(entry.began_at);
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}
