/**
 * Asks before a package is installed or updated: who wrote it, what it may do and agents by way of it, the words that
 * models will read, and for an update everything that changes. Nothing of it runs, and nothing changes, before a yes.
 */

import { useState } from "react";
import { messageOf } from "../api/client.ts";
import { useText } from "../i18n/text.ts";
import type { TextKey } from "../i18n/words.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Diff } from "../ui/Diff.tsx";
import "./consent-dialog.css";
import { closeCards } from "./dialogs.ts";
import { consent } from "./installing.ts";
import { MayList } from "./MayList.tsx";
import { PackageIcon } from "./PackagesDialog.tsx";
import type { CardPackage } from "./packages.ts";
import { ToolList } from "./ToolList.tsx";

export function ConsentDialog({ offer }: { readonly offer: CardPackage }) {
  const text = useText();
  const [busy, setBusy] = useState<"accept" | "leave">();
  const [problem, setProblem] = useState<string>();
  const old = offer.accepted_version;
  const answer = async (accept: boolean): Promise<void> => {
    setBusy(accept ? "accept" : "leave");
    try {
      await consent(offer, accept);
    } catch (error) {
      setProblem(messageOf(error));
      setBusy(undefined);
    }
  };
  const actions = (
    <>
      <Button busy={busy === "leave"} disabled={busy !== undefined} onClick={() => void answer(false)}>
        {old === null ? text("cards.leave") : text("cards.keep_old", { version: old })}
      </Button>
      <Button tone="primary" busy={busy === "accept"} disabled={busy !== undefined} onClick={() => void answer(true)}>
        {text(old === null ? "cards.accept_install" : "cards.accept_update")}
      </Button>
    </>
  );
  const title = text(old === null ? "cards.consent_install" : "cards.consent_update", { name: offer.display_name });
  return (
    <Dialog wide title={title} description={text("cards.community")} onClose={closeCards} actions={actions}>
      <div className="consent-body">
        <About offer={offer} />
        <h3>{text("cards.may")}</h3>
        <MayList known={offer} />
        {old === null ? null : <Changes offer={offer} />}
        <h3>{text("cards.will_see")}</h3>
        <ToolList tools={offer.tools} />
        <Remarks offer={offer} />
        {problem ? (
          <p className="field-problem" role="alert">
            {problem}
          </p>
        ) : null}
      </div>
    </Dialog>
  );
}

function About({ offer }: { readonly offer: CardPackage }) {
  const text = useText();
  const { accepted_version: old, version, author } = offer;
  return (
    <div className="consent-about">
      <PackageIcon known={offer} />
      <div>
        <p>
          <strong>
            {old === null || old === version
              ? text("cards.version", { version })
              : text("cards.versions", { old, new: version })}
          </strong>{" "}
          {author ? text("cards.by", { author }) : text("cards.by_unknown")}
        </p>
        {offer.description ? <p>{offer.description}</p> : null}
        <code className="consent-source">{offer.source}</code>
      </div>
    </div>
  );
}

/** What an update would change, each as a text before and after. */
function Changes({ offer }: { readonly offer: CardPackage }) {
  const text = useText();
  return (
    <>
      <h3>{text("cards.changes")}</h3>
      {offer.diff.map(({ change, name, text: words }) => {
        const title = `${text(`cards.change.${change}` as TextKey)}: ${name}`;
        return (
          <section key={`${change}:${name}`} className="consent-change">
            <p>{title}</p>
            <Diff label={title} lines={shownLines(words)} />
          </section>
        );
      })}
    </>
  );
}

/** A unified diff without the lines that name files and places in them. */
function shownLines(diff: string): readonly string[] {
  return diff.split("\n").filter((line) => !/^(---|\+\+\+|@@) ?/.test(line));
}

function Remarks({ offer }: { readonly offer: CardPackage }) {
  const text = useText();
  if (offer.warnings.length === 0) return null;
  return (
    <>
      <h3>{text("cards.warnings")}</h3>
      <ul className="consent-remarks">
        {offer.warnings.map((warning) => (
          <li key={`${String(warning.path)}:${String(warning.code)}`}>{String(warning.message)}</li>
        ))}
      </ul>
    </>
  );
}
