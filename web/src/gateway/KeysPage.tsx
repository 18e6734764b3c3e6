/** The owner's keys, and the applications that were let in with OAuth. */

import { KeyRound } from "lucide-react";
import { useState } from "react";
import { api, ask, type Schemas } from "../api/client.ts";
import { useAsked } from "../api/useAsked.ts";
import { useText } from "../i18n/text.ts";
import { AskedView } from "../ui/AskedView.tsx";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { ConfirmDialog } from "../ui/ConfirmDialog.tsx";
import { Empty } from "../ui/Empty.tsx";
import { SelectField, TextField } from "../ui/Field.tsx";
import { type Column, Table } from "../ui/Table.tsx";
import { When } from "../ui/When.tsx";
import { type Agent, readAgents } from "./agents.ts";
import { FormDialog } from "./FormDialog.tsx";
import { GrantList } from "./GrantList.tsx";
import { MakeSecret, type Making } from "./MakeSecret.tsx";
import { PageFrame } from "./PageFrame.tsx";
import { useSending } from "./useSending.ts";

type Key = Schemas["Key"];
type Kind = Key["kind"];

interface Known {
  readonly keys: readonly Key[];
  readonly agents: readonly Agent[];
}

async function readKeys(): Promise<Known> {
  const [keys, agents] = await Promise.all([ask(api.GET("/api/v1/keys")), readAgents()]);
  return { keys, agents };
}

export function KeysPage() {
  const text = useText();
  const asked = useAsked("keys", readKeys);
  const [revoking, setRevoking] = useState<Key>();
  const make = (
    <MakeSecret
      title={text("gateway.keys.new")}
      text={text("gateway.keys.shown_once")}
      label={text("gateway.keys.key")}
      disabled={asked.data === undefined}
      form={(making) => <NewKey agents={asked.data?.agents ?? []} {...making} />}
      onMade={() => void asked.again()}
    />
  );
  return (
    <PageFrame title={text("gateway.keys.title")} text={text("gateway.keys.text")} actions={make}>
      <AskedView asked={asked}>{(known) => <KeyTable known={known} onRevoke={setRevoking} />}</AskedView>
      <GrantList />
      {revoking ? (
        <ConfirmDialog
          title={text("gateway.keys.revoke")}
          message={text("gateway.keys.revoke_text", { key: revoking.name || `${revoking.prefix}…` })}
          confirm={text("gateway.keys.revoke")}
          onClose={() => setRevoking(undefined)}
          onConfirm={async () => {
            await ask(api.DELETE("/api/v1/keys/{key_id}", { params: { path: { key_id: revoking.key_id } } }));
            await asked.again();
          }}
        />
      ) : null}
    </PageFrame>
  );
}

function KeyTable({ known, onRevoke }: { readonly known: Known; readonly onRevoke: (key: Key) => void }) {
  const text = useText();
  const names = new Map(known.agents.map((agent) => [agent.agent_id, agent.display_name || agent.name]));
  if (known.keys.length === 0) return <Empty icon={KeyRound} title={text("gateway.keys.none")} />;
  const columns: readonly Column<Key>[] = [
    { id: "prefix", head: text("gateway.keys.begins"), cell: (key) => <code>{key.prefix}…</code> },
    { id: "name", head: text("gateway.keys.name"), cell: (key) => key.name || "–" },
    {
      id: "agent",
      head: text("gateway.keys.agent"),
      cell: (key) => (key.agent_id ? (names.get(key.agent_id) ?? key.agent_id) : text("gateway.keys.all_agents")),
    },
    { id: "made", head: text("gateway.keys.made"), cell: (key) => <When at={key.created_at} /> },
    {
      id: "state",
      head: text("gateway.keys.state"),
      cell: (key) =>
        key.revoked_at ? (
          <Badge>{text("gateway.keys.revoked")}</Badge>
        ) : (
          <Badge tone="ok">{text("gateway.keys.active")}</Badge>
        ),
    },
    {
      id: "actions",
      head: "",
      end: true,
      cell: (key) =>
        key.revoked_at ? null : (
          <Button small tone="danger" onClick={() => onRevoke(key)}>
            {text("gateway.keys.revoke")}
          </Button>
        ),
    },
  ];
  const newest = [...known.keys].sort((a, b) => b.created_at.localeCompare(a.created_at));
  return (
    <Table
      label={text("gateway.keys.title")}
      columns={columns}
      rows={newest}
      keyOf={(key) => key.key_id}
      dimmed={(key) => key.revoked_at !== null}
    />
  );
}

interface NewKeyProps extends Making {
  readonly agents: readonly Agent[];
}

const KINDS: readonly Kind[] = ["bak", "agk", "oag"];

function NewKey({ agents, onClose, onMade }: NewKeyProps) {
  const text = useText();
  const sending = useSending();
  const [kind, setKind] = useState<Kind>("bak");
  const [agent, setAgent] = useState(agents[0]?.agent_id ?? "");
  const [name, setName] = useState("");
  const submit = async (): Promise<void> => {
    const body = { kind, name, agent_id: kind === "oag" ? null : agent };
    const made = await ask(api.POST("/api/v1/keys", { body }));
    onMade(made.key);
  };
  return (
    <FormDialog
      title={text("gateway.keys.new")}
      submit={text("gateway.keys.new")}
      sending={sending}
      onSubmit={submit}
      onClose={onClose}
    >
      <SelectField
        label={text("gateway.keys.kind")}
        value={kind}
        onChange={(event) => setKind(event.target.value as Kind)}
      >
        {KINDS.map((one) => (
          <option key={one} value={one}>
            {text(`gateway.keys.kind.${one}`)}
          </option>
        ))}
      </SelectField>
      {kind === "oag" ? null : (
        <SelectField
          label={text("gateway.keys.agent")}
          value={agent}
          required
          onChange={(event) => setAgent(event.target.value)}
        >
          {agents.map((one) => (
            <option key={one.agent_id} value={one.agent_id}>
              {one.display_name || one.name}
            </option>
          ))}
        </SelectField>
      )}
      <TextField
        label={text("gateway.keys.name")}
        hint={text("gateway.keys.name_hint")}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
    </FormDialog>
  );
}
