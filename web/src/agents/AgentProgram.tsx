/** The program that an agent's card runs in a terminal of its own: which, where, and what it may beside its tools. */

import { Play } from "lucide-react";
import { useRef, useState } from "react";
import type { Card } from "../board/model.ts";
import { changeCard } from "../board/store.ts";
import { useText } from "../i18n/text.ts";
import { startTerminal } from "../terminals/actions.ts";
import { useTerminals } from "../terminals/store.ts";
import { FolderField, TerminalActions } from "../terminals/TerminalPanel.tsx";
import { Button } from "../ui/Button.tsx";
import { CheckField, TextField } from "../ui/Field.tsx";
import { commandOf, keepCommand } from "./program.ts";

export function AgentProgram({ card }: { readonly card: Card }) {
  const text = useText();
  const kept = commandOf(card);
  const [command, setCommand] = useState(kept);
  const status = useTerminals((state) => state.cards[card.id]?.status);
  const isRunning = status === undefined ? card.state === "running" : status === "working";
  // The press on the button takes the focus from the field, which saves: the host must have that before it starts.
  const saving = useRef<Promise<void>>(Promise.resolve());
  const save = (): Promise<void> => {
    if (command.trim() !== kept) saving.current = keepCommand(card, command.trim());
    return saving.current;
  };
  const start = async (): Promise<void> => {
    await save();
    await startTerminal(card.id);
  };
  return (
    <div className="agent-program">
      <p>{text("agents.program.text")}</p>
      <TextField
        label={text("agents.program.command")}
        hint={text("agents.program.hint")}
        placeholder="claude"
        value={command}
        spellCheck={false}
        onChange={(event) => setCommand(event.target.value)}
        onBlur={() => void save()}
      />
      <FolderField card={card} />
      <CheckField
        label={text("agents.program.typed")}
        hint={text("agents.program.typed_hint")}
        checked={card.content.messages === "typed"}
        onChange={(event) => void keep(card, "messages", event.target.checked ? "typed" : undefined)}
      />
      <CheckField
        label={text("agents.canvas")}
        hint={text("agents.canvas_hint")}
        checked={card.content.canvas === true}
        onChange={(event) => void keep(card, "canvas", event.target.checked ? true : undefined)}
      />
      {isRunning ? (
        <TerminalActions card={card} hasEnded={false} />
      ) : (
        <div className="terminal-actions">
          <Button tone="primary" icon={Play} disabled={command.trim() === ""} onClick={() => void start()}>
            {text("agents.program.start")}
          </Button>
        </div>
      )}
    </div>
  );
}

async function keep(card: Card, name: string, value: unknown): Promise<void> {
  const { [name]: _, ...rest } = card.content;
  await changeCard(card.id, { content: value === undefined ? rest : { ...rest, [name]: value } });
}
