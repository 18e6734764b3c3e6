/** The applications that the owner has let in with OAuth, and ending their access. */

import { useState } from "react";
import { api, ask, type Schemas } from "../api/client.ts";
import { useAsked } from "../api/useAsked.ts";
import { useText } from "../i18n/text.ts";
import { AskedView } from "../ui/AskedView.tsx";
import { Button } from "../ui/Button.tsx";
import { ConfirmDialog } from "../ui/ConfirmDialog.tsx";
import { type Column, Table } from "../ui/Table.tsx";
import { When } from "../ui/When.tsx";

type Grant = Schemas["Grant"];

async function readGrants(): Promise<readonly Grant[]> {
  return ask(api.GET("/api/v1/grants"));
}

export function GrantList() {
  const text = useText();
  const asked = useAsked("grants", readGrants);
  const [ending, setEnding] = useState<Grant>();
  const columns: readonly Column<Grant>[] = [
    {
      id: "client",
      head: text("gateway.grants.application"),
      cell: (grant) => `${grant.client_name} (${grant.redirect_host})`,
    },
    { id: "agents", head: text("gateway.grants.agents"), cell: (grant) => grant.agents.join(", ") },
    { id: "until", head: text("gateway.grants.until"), cell: (grant) => <When at={grant.expires_at} /> },
    {
      id: "actions",
      head: "",
      end: true,
      cell: (grant) => (
        <Button small tone="danger" onClick={() => setEnding(grant)}>
          {text("gateway.grants.revoke")}
        </Button>
      ),
    },
  ];
  return (
    <section className="page-section">
      <div>
        <h2>{text("gateway.grants.title")}</h2>
        <p className="page-text">{text("gateway.grants.text")}</p>
      </div>
      <AskedView asked={asked}>
        {(grants) =>
          grants.length === 0 ? (
            <p className="page-text">{text("gateway.grants.none")}</p>
          ) : (
            <Table
              label={text("gateway.grants.title")}
              columns={columns}
              rows={grants}
              keyOf={(grant) => grant.grant_id}
            />
          )
        }
      </AskedView>
      {ending ? (
        <ConfirmDialog
          title={text("gateway.grants.revoke")}
          message={text("gateway.grants.revoke_text", { name: ending.client_name })}
          confirm={text("gateway.grants.revoke")}
          onClose={() => setEnding(undefined)}
          onConfirm={async () => {
            const path = { grant_id: ending.grant_id };
            await ask(api.DELETE("/api/v1/grants/{grant_id}", { params: { path } }));
            await asked.again();
          }}
        />
      ) : null}
    </section>
  );
}
