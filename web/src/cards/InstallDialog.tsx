/** Asks where a card is to come from: a folder, a repository or an archive. */

import { useId, useState } from "react";
import { messageOf } from "../api/client.ts";
import { useText } from "../i18n/text.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { TextField } from "../ui/Field.tsx";
import { closeCards, openCards } from "./dialogs.ts";
import { goOn, offer, upload } from "./installing.ts";
import type { CardPackage } from "./packages.ts";

export function InstallDialog() {
  const text = useText();
  const form = useId();
  const [source, setSource] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const look = async (offered: () => Promise<CardPackage>): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await goOn(await offered());
    } catch (error) {
      setProblem(messageOf(error));
      setBusy(false);
    }
  };
  const actions = (
    <>
      <Button onClick={() => openCards({ view: "packages" })}>{text("cards.packages")}</Button>
      <Button type="submit" form={form} tone="primary" busy={busy} disabled={source.trim() === ""}>
        {text("cards.install_look")}
      </Button>
    </>
  );
  return (
    <Dialog
      title={text("cards.install")}
      description={text("cards.install_text")}
      onClose={closeCards}
      actions={actions}
    >
      <form
        id={form}
        onSubmit={(event) => {
          event.preventDefault();
          void look(() => offer(source.trim()));
        }}
      >
        <TextField
          label={text("cards.install_source")}
          hint={text("cards.install_source_hint")}
          problem={problem}
          value={source}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => setSource(event.target.value)}
        />
        <TextField
          type="file"
          label={text("cards.install_archive")}
          hint={text("cards.install_archive_hint")}
          accept=".zip,.tar,.tgz,.gz"
          disabled={busy}
          onChange={(event) => {
            const [archive] = event.target.files ?? [];
            if (archive) void look(() => upload(archive));
            event.target.value = "";
          }}
        />
      </form>
    </Dialog>
  );
}
