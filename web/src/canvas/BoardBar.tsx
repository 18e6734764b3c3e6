/** The bar above a board: which workspace it is, what can be added, undo and redo. */

import { Bot, ChevronDown, Plus, Redo2, SquareTerminal, StickyNote, Undo2 } from "lucide-react";
import { go } from "../app/routes.ts";
import { addCard, step, useBoard } from "../board/store.ts";
import { makeWorkspace, useWorkspaces } from "../board/workspaces.ts";
import { useText } from "../i18n/text.ts";
import { Button, IconButton } from "../ui/Button.tsx";
import { Menu, MenuItem, MenuLine } from "../ui/Menu.tsx";
import { placeForNew } from "./place.ts";

export function BoardBar() {
  const text = useText();
  const { canUndo, canRedo } = useBoard();
  return (
    <header className="board-bar">
      <WorkspaceMenu />
      <span className="board-bar-space" />
      <IconButton icon={Undo2} label={text("canvas.undo")} disabled={!canUndo} onClick={() => void step("undo")} />
      <IconButton icon={Redo2} label={text("canvas.redo")} disabled={!canRedo} onClick={() => void step("redo")} />
      <Menu
        trigger={
          <Button tone="primary" icon={Plus}>
            {text("canvas.add")}
          </Button>
        }
      >
        <MenuItem icon={Bot} onSelect={() => void addCard({ kind: "agent", ...placeForNew("agent") })}>
          {text("canvas.add_agent")}
        </MenuItem>
        <MenuItem icon={SquareTerminal} onSelect={() => void addCard({ kind: "terminal", ...placeForNew("terminal") })}>
          {text("canvas.add_terminal")}
        </MenuItem>
        <MenuItem icon={StickyNote} onSelect={() => void addCard({ kind: "note", ...placeForNew("note") })}>
          {text("canvas.add_note")}
        </MenuItem>
      </Menu>
    </header>
  );
}

function WorkspaceMenu() {
  const text = useText();
  const workspace = useBoard((state) => state.workspace);
  const all = useWorkspaces((state) => state.all);
  const make = async (): Promise<void> => {
    const made = await makeWorkspace(text("workspace.untitled"));
    go({ page: "canvas", workspace: made.id });
  };
  return (
    <Menu
      align="start"
      trigger={
        <Button tone="quiet" icon={ChevronDown} aria-label={`${text("workspace.choose")}: ${workspace?.name ?? ""}`}>
          {workspace?.name}
        </Button>
      }
    >
      {(all ?? []).map((one) => (
        <MenuItem
          key={one.id}
          checked={one.id === workspace?.id}
          onSelect={() => go({ page: "canvas", workspace: one.id })}
        >
          {one.name}
        </MenuItem>
      ))}
      <MenuLine />
      <MenuItem icon={Plus} onSelect={() => void make()}>
        {text("workspace.new")}
      </MenuItem>
    </Menu>
  );
}
