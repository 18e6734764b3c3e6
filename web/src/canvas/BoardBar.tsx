/** The bar above a board: which workspace it is, whether all is saved, undo and redo, and what can be added. */

import { Check, CloudOff, Keyboard, LoaderCircle, type LucideIcon, Network, Plus, Redo2, Undo2 } from "lucide-react";
import { shownKeys } from "../app/shortcuts.ts";
import { useBoard } from "../board/store.ts";
import { CallsToggle } from "../calls/CallsPanel.tsx";
import { useText } from "../i18n/text.ts";
import { Button, IconButton } from "../ui/Button.tsx";
import "./board-bar.css";
import { command } from "./commands.ts";
import { WorkspaceMenu } from "./WorkspaceMenu.tsx";

export function BoardBar() {
  const text = useText();
  const canUndo = useBoard((state) => state.canUndo);
  const canRedo = useBoard((state) => state.canRedo);
  const hasCards = useBoard((state) => Object.keys(state.board.cards).length > 0);
  const add = command("add");
  return (
    <header className="board-bar">
      <WorkspaceMenu />
      <Saved />
      <span className="board-bar-space" />
      <Doing id="undo" icon={Undo2} disabled={!canUndo} />
      <Doing id="redo" icon={Redo2} disabled={!canRedo} />
      <Doing id="tidy" icon={Network} disabled={!hasCards} />
      <CallsToggle />
      <Doing id="help" icon={Keyboard} />
      <Button tone="primary" icon={Plus} onClick={add.run} aria-keyshortcuts="Control+K Meta+K">
        {text("canvas.add")}
        <kbd className="board-bar-keys">{shownKeys(add.keys[0] ?? "")}</kbd>
      </Button>
    </header>
  );
}

interface DoingProps {
  readonly id: string;
  readonly icon: LucideIcon;
  readonly disabled?: boolean;
}

function Doing({ id, icon, disabled = false }: DoingProps) {
  const text = useText();
  const { name, keys, run } = command(id);
  const label = `${text(name)} (${shownKeys(keys[0] ?? "")})`;
  return <IconButton className={`board-bar-${id}`} icon={icon} label={label} disabled={disabled} onClick={run} />;
}

/** Edits are saved as they are made; this says so. */
function Saved() {
  const text = useText();
  const saving = useBoard((state) => state.saving > 0);
  const lost = useBoard((state) => state.feed === "lost");
  const [Icon, word] = lost
    ? ([CloudOff, "canvas.saved.lost"] as const)
    : saving
      ? ([LoaderCircle, "canvas.saved.not_yet"] as const)
      : ([Check, "canvas.saved"] as const);
  return (
    <span className="board-bar-saved" role="status">
      <Icon aria-hidden size={14} />
      <span>{text(word)}</span>
    </span>
  );
}
