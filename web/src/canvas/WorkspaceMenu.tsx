/** The workspaces: going to another one, making, naming, copying out and in, closing and removing them. */

import { ChevronDown, Download, FolderInput, Lock, LockOpen, Pencil, Plus, Trash2 } from "lucide-react";
import { useRef, useState } from "react";
import { messageOf, type Schemas } from "../api/client.ts";
import { go } from "../app/routes.ts";
import { useBoard } from "../board/store.ts";
import {
  exportWorkspace,
  importWorkspace,
  makeWorkspace,
  removeWorkspace,
  renameWorkspace,
  setWorkspaceOpen,
  useWorkspaces,
} from "../board/workspaces.ts";
import { useText } from "../i18n/text.ts";
import { Button } from "../ui/Button.tsx";
import { ConfirmDialog } from "../ui/ConfirmDialog.tsx";
import { Menu, MenuItem, MenuLine } from "../ui/Menu.tsx";
import { showToast } from "../ui/toasts.ts";
import { NameDialog } from "./NameDialog.tsx";

type Asking = "new" | "rename" | "remove" | undefined;
type Summary = Schemas["WorkspaceSummary"];

export function WorkspaceMenu() {
  const text = useText();
  const workspace = useBoard((state) => state.workspace);
  const all = useWorkspaces((state) => state.all);
  const [asking, setAsking] = useState<Asking>();
  const file = useRef<HTMLInputElement>(null);
  if (workspace === undefined) return null;
  const { id, name, open } = workspace;
  return (
    <>
      <Menu
        align="start"
        trigger={
          <Button tone="quiet" className="workspace-button" aria-label={`${text("workspace.choose")}: ${name}`}>
            <span>{name}</span>
            <ChevronDown aria-hidden size={16} />
          </Button>
        }
      >
        {(all ?? []).map((one) => (
          <MenuItem key={one.id} checked={one.id === id} onSelect={() => goTo(one.id)}>
            {one.name}
          </MenuItem>
        ))}
        <MenuLine />
        <MenuItem icon={Plus} onSelect={() => setAsking("new")}>
          {text("workspace.new")}
        </MenuItem>
        <MenuItem icon={FolderInput} onSelect={() => file.current?.click()}>
          {text("workspace.import")}
        </MenuItem>
        <MenuLine />
        <MenuItem icon={Pencil} onSelect={() => setAsking("rename")}>
          {text("workspace.rename")}
        </MenuItem>
        <MenuItem icon={Download} onSelect={() => void told(() => exportWorkspace(workspace))}>
          {text("workspace.export")}
        </MenuItem>
        <MenuItem icon={open ? Lock : LockOpen} onSelect={() => void told(() => setWorkspaceOpen(id, !open))}>
          {text(open ? "workspace.close" : "workspace.open")}
        </MenuItem>
        <MenuItem danger icon={Trash2} onSelect={() => setAsking("remove")}>
          {text("workspace.remove")}
        </MenuItem>
      </Menu>
      <input
        ref={file}
        type="file"
        accept="application/json,.json"
        hidden
        aria-label={text("workspace.import")}
        onChange={(event) => {
          const [chosen] = event.target.files ?? [];
          event.target.value = "";
          if (chosen) void told(async () => goTo((await importWorkspace(chosen)).id));
        }}
      />
      <Asked asking={asking} workspace={workspace} onClose={() => setAsking(undefined)} />
    </>
  );
}

interface AskedProps {
  readonly asking: Asking;
  readonly workspace: Summary;
  readonly onClose: () => void;
}

function Asked({ asking, workspace, onClose }: AskedProps) {
  const text = useText();
  const { id, name } = workspace;
  const label = text("workspace.name");
  switch (asking) {
    case "new": {
      const make = (wanted: string) => told(async () => goTo((await makeWorkspace(wanted)).id));
      const title = text("workspace.new");
      return <NameDialog always title={title} label={label} initial={title} onClose={onClose} onNamed={make} />;
    }
    case "rename": {
      const rename = (wanted: string) => told(() => renameWorkspace(id, wanted));
      const title = text("workspace.rename");
      return <NameDialog title={title} label={label} initial={name} onClose={onClose} onNamed={rename} />;
    }
    case "remove":
      return (
        <ConfirmDialog
          title={text("workspace.remove")}
          message={text("workspace.remove.text", { name })}
          confirm={text("workspace.remove")}
          onClose={onClose}
          onConfirm={async () => {
            await removeWorkspace(id);
            go({ page: "canvas", workspace: undefined });
          }}
        />
      );
    default:
      return null;
  }
}

function goTo(id: string): void {
  go({ page: "canvas", workspace: id });
}

/** Do it, and tell the user where it fails. */
async function told(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    showToast({ tone: "bad", text: messageOf(error) });
  }
}
