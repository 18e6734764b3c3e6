/** The pages of the gateway: agents, keys, webhooks, files, consent and audit; each section is a room file of its own. */

import type { Section } from "../app/routes.ts";
import { AgentPage } from "./AgentPage.tsx";
import { AgentsPage } from "./AgentsPage.tsx";
import { AuditPage } from "./AuditPage.tsx";
import { ConsentsPage } from "./ConsentsPage.tsx";
import { FilesPage } from "./FilesPage.tsx";
import { KeysPage } from "./KeysPage.tsx";
import { WebhooksPage } from "./WebhooksPage.tsx";

interface GatewayPageProps {
  readonly section: Section;
  /** What the address names within the section: an agent's id. */
  readonly rest: string | undefined;
}

export function GatewayPage({ section, rest }: GatewayPageProps) {
  switch (section) {
    case "agents":
      return rest ? <AgentPage key={rest} id={rest} /> : <AgentsPage />;
    case "keys":
      return <KeysPage />;
    case "webhooks":
      return <WebhooksPage agent={rest} />;
    case "files":
      return <FilesPage />;
    case "consents":
      return <ConsentsPage />;
    case "audit":
      return <AuditPage />;
  }
}
