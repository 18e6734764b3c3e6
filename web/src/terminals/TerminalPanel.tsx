/** The details of a terminal: how it does, where it begins, and what can be done with it. */

import { Maximize2, RotateCcw, Square } from "lucide-react";
import { useState } from "react";
import type { Card } from "../board/model.ts";
import { changeCard } from "../board/store.ts";
import { useText } from "../i18n/text.ts";
import { Button } from "../ui/Button.tsx";
import { ConfirmDialog } from "../ui/ConfirmDialog.tsx";
import { CheckField, TextField } from "../ui/Field.tsx";
import { showToast } from "../ui/toasts.ts";
import { endTerminal, startTerminal } from "./actions.ts";
import { readAloud, showLarge, useTerminals } from "./store.ts";
import "./terminal-pane.css";

export function TerminalPanel({ card }: { readonly card: Card }) {
  const text = useText();
  const news = useTerminals((state) => state.cards[card.id]);
  const status = news?.status ?? card.state;
  return (
    <div className="terminal-panel">
      <dl className="terminal-facts">
        <dt>{text("terminals.status")}</dt>
        <dd>{text(`terminals.status.${status}` as "terminals.status.idle")}</dd>
        {news?.exitCode == null ? null : (
          <>
            <dt>{text("terminals.exit_code")}</dt>
            <dd>{news.exitCode}</dd>
          </>
        )}
      </dl>
      <TerminalActions card={card} hasEnded={status === "exited"} />
      <FolderField card={card} />
      <ReadersField />
      <p className="terminal-panel-note">{text("terminals.access")}</p>
    </div>
  );
}

export function TerminalActions({ card, hasEnded }: { readonly card: Card; readonly hasEnded: boolean }) {
  const text = useText();
  const [ending, setEnding] = useState(false);
  return (
    <div className="terminal-actions">
      <Button icon={Maximize2} onClick={() => showLarge(card.id)}>
        {text("terminals.enlarge")}
      </Button>
      {hasEnded ? (
        <Button icon={RotateCcw} onClick={() => void startTerminal(card.id)}>
          {text("terminals.start_again")}
        </Button>
      ) : (
        <Button tone="danger" icon={Square} onClick={() => setEnding(true)}>
          {text("terminals.end")}
        </Button>
      )}
      {ending ? (
        <ConfirmDialog
          title={text("terminals.end.title", { title: card.title })}
          message={text("terminals.end.text")}
          confirm={text("terminals.end.confirm")}
          onConfirm={() => endTerminal(card.id)}
          onClose={() => setEnding(false)}
        />
      ) : null}
    </div>
  );
}

/** The folder in which what runs in a card's terminal begins. */
export function FolderField({ card }: { readonly card: Card }) {
  const text = useText();
  const kept = typeof card.content.cwd === "string" ? card.content.cwd : "";
  const [folder, setFolder] = useState(kept);
  const save = async (): Promise<void> => {
    const wanted = folder.trim();
    if (wanted === kept) return;
    const { cwd: _, ...rest } = card.content;
    await changeCard(card.id, { content: wanted ? { ...rest, cwd: wanted } : rest });
    showToast({ tone: "ok", text: text("terminals.folder.saved") });
  };
  return (
    <TextField
      label={text("terminals.folder")}
      hint={text("terminals.folder.hint")}
      value={folder}
      spellCheck={false}
      onChange={(event) => setFolder(event.target.value)}
      onBlur={() => void save()}
      onKeyDown={(event) => (event.key === "Enter" ? void save() : undefined)}
    />
  );
}

function ReadersField() {
  const text = useText();
  const forReaders = useTerminals((state) => state.forReaders);
  return (
    <CheckField
      label={text("terminals.readers")}
      hint={text("terminals.readers.hint")}
      checked={forReaders}
      onChange={(event) => readAloud(event.target.checked)}
    />
  );
}
