/** The pages of the gateway: agents, keys, webhooks, files, consent and audit. */

import type { Section } from "../app/routes.ts";
import { useText } from "../i18n/text.ts";

interface GatewayPageProps {
  readonly section: Section;
  readonly rest: string | undefined;
}

export function GatewayPage({ section }: GatewayPageProps) {
  const text = useText();
  return <h1>{text(`app.${section}`)}</h1>;
}
