/** Definitions of tools that wait for the owner: what would change, and accepting or refusing it. */

import { ShieldCheck } from "lucide-react";
import { useState } from "react";
import { api, ask, messageOf, type Schemas } from "../api/client.ts";
import { useAsked } from "../api/useAsked.ts";
import { useText } from "../i18n/text.ts";
import { AskedView } from "../ui/AskedView.tsx";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Diff } from "../ui/Diff.tsx";
import { Empty } from "../ui/Empty.tsx";
import { showToast } from "../ui/toasts.ts";
import "./consents-page.css";
import { PageFrame } from "./PageFrame.tsx";

type Consent = Schemas["toolwire.wire.answers.remotes.Consent"];

async function readConsents(): Promise<readonly Consent[]> {
  return ask(api.GET("/api/v1/consents"));
}

export function ConsentsPage() {
  const text = useText();
  const asked = useAsked("consents", readConsents);
  return (
    <PageFrame title={text("gateway.consents.title")} text={text("gateway.consents.text")}>
      <AskedView asked={asked}>
        {(consents) =>
          consents.length === 0 ? (
            <Empty icon={ShieldCheck} title={text("gateway.consents.none")}>
              {text("gateway.consents.none_text")}
            </Empty>
          ) : (
            <ul className="consents">
              {consents.map((consent) => (
                <ConsentRow key={consent.consent_id} consent={consent} onAnswered={asked.again} />
              ))}
            </ul>
          )
        }
      </AskedView>
    </PageFrame>
  );
}

function ConsentRow({ consent, onAnswered }: { readonly consent: Consent; readonly onAnswered: () => Promise<void> }) {
  const text = useText();
  const [busy, setBusy] = useState(false);
  const answer = async (accept: boolean): Promise<void> => {
    setBusy(true);
    try {
      const path = { consent: consent.consent_id };
      await ask(api.POST("/api/v1/consents/{consent}", { params: { path }, body: { accept } }));
      if (accept) showToast({ tone: "ok", text: text("gateway.consents.accepted", { tool: consent.tool }) });
      await onAnswered();
    } catch (error) {
      showToast({ tone: "bad", text: messageOf(error) });
    } finally {
      setBusy(false);
    }
  };
  return (
    <li className="consent">
      <header className="consent-head">
        <h2>{text("gateway.consents.of", { tool: consent.tool, agent: consent.agent })}</h2>
        <Badge tone={consent.kind === "new" ? "info" : "warn"}>{text(`gateway.consents.${consent.kind}`)}</Badge>
        {consent.state === "refused" ? <Badge tone="bad">{text("gateway.consents.refused")}</Badge> : null}
      </header>
      <Diff label={text("gateway.consents.diff")} lines={consent.diff.split("\n")} />
      <div className="page-buttons">
        {consent.state === "refused" ? null : (
          <Button busy={busy} onClick={() => void answer(false)}>
            {text("gateway.consents.refuse")}
          </Button>
        )}
        <Button tone="primary" busy={busy} onClick={() => void answer(true)}>
          {text("gateway.consents.accept")}
        </Button>
      </div>
    </li>
  );
}
