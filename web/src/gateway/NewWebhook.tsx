/** Registers a webhook of an agent. */

import { useState } from "react";
import { api, ask } from "../api/client.ts";
import { useText } from "../i18n/text.ts";
import { TextField } from "../ui/Field.tsx";
import { FormDialog } from "./FormDialog.tsx";
import { useSending } from "./useSending.ts";

interface NewWebhookProps {
  readonly agent: string;
  readonly onClose: () => void;
  readonly onMade: () => Promise<void>;
}

export function NewWebhook({ agent, onClose, onMade }: NewWebhookProps) {
  const text = useText();
  const sending = useSending();
  const [url, setUrl] = useState("");
  const [secret, setSecret] = useState(newSecret);
  const submit = async (): Promise<void> => {
    const body = { url, secret };
    await ask(api.POST("/api/v1/agents/{agent}/webhooks", { params: { path: { agent } }, body }));
    onClose();
    await onMade();
  };
  return (
    <FormDialog
      title={text("gateway.webhooks.new")}
      submit={text("gateway.webhooks.new")}
      sending={sending}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label={text("gateway.webhooks.address")}
        hint={text("gateway.webhooks.address_hint")}
        type="url"
        placeholder="https://"
        required
        autoFocus
        value={url}
        onChange={(event) => setUrl(event.target.value)}
      />
      <TextField
        label={text("gateway.webhooks.secret")}
        hint={text("gateway.webhooks.secret_hint")}
        minLength={16}
        maxLength={256}
        required
        autoComplete="off"
        value={secret}
        onChange={(event) => setSecret(event.target.value)}
      />
    </FormDialog>
  );
}

function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}
