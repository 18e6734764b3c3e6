/** The packages that are installed: put one on the board, look for its update, remove it. */

import { Ellipsis, Plus, Puzzle, RefreshCw, Trash2 } from "lucide-react";
import { useEffect, useState } from "react";
import { messageOf } from "../api/client.ts";
import { useBoard } from "../board/store.ts";
import { useText } from "../i18n/text.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button, IconButton } from "../ui/Button.tsx";
import { ConfirmDialog } from "../ui/ConfirmDialog.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Empty, Failed, Waiting } from "../ui/Empty.tsx";
import { Menu, MenuItem } from "../ui/Menu.tsx";
import { showToast } from "../ui/toasts.ts";
import { closeCards, openCards } from "./dialogs.ts";
import { hasSource, place, remove, update } from "./installing.ts";
import { type CardPackage, readPackages, usePackages } from "./packages.ts";
import "./packages-dialog.css";

export function PackagesDialog() {
  const text = useText();
  const { all, problem } = usePackages();
  const [removing, setRemoving] = useState<CardPackage>();
  useEffect(() => void readPackages(), []);
  const install = (
    <Button tone="primary" icon={Plus} onClick={() => openCards({ view: "install" })}>
      {text("cards.install")}
    </Button>
  );
  return (
    <Dialog
      wide
      title={text("cards.packages")}
      description={text("cards.packages_text")}
      onClose={closeCards}
      {...(all?.size ? { actions: install } : {})}
    >
      {problem ? (
        <Failed message={problem} again={<Button onClick={() => void readPackages()}>{text("ui.try_again")}</Button>} />
      ) : null}
      {all === undefined && !problem ? <Waiting label={text("ui.loading")} /> : null}
      {all?.size === 0 ? (
        <Empty icon={Puzzle} title={text("cards.packages_none")} action={install}>
          {text("cards.packages_none_text")}
        </Empty>
      ) : null}
      <ul className="packages">
        {[...(all?.values() ?? [])].map((known) => (
          <PackageRow key={known.package} known={known} onRemove={() => setRemoving(known)} />
        ))}
      </ul>
      {removing ? (
        <ConfirmDialog
          title={text("cards.remove_title", { name: removing.display_name })}
          message={text("cards.remove_text")}
          confirm={text("cards.remove")}
          onConfirm={() => remove(removing)}
          onClose={() => setRemoving(undefined)}
        />
      ) : null}
    </Dialog>
  );
}

function PackageRow({ known, onRemove }: { readonly known: CardPackage; readonly onRemove: () => void }) {
  const text = useText();
  const hasBoard = useBoard((state) => state.workspace !== undefined);
  const [busy, setBusy] = useState(false);
  const run = async (action: () => Promise<void>): Promise<void> => {
    setBusy(true);
    try {
      await action();
    } catch (error) {
      showToast({ tone: "bad", text: messageOf(error) });
    }
    setBusy(false);
  };
  return (
    <li className="package">
      <PackageIcon known={known} />
      <div className="package-words">
        <p className="package-name">
          <strong>{known.display_name}</strong>
          <span>{known.accepted_version ?? known.version}</span>
          {known.status === "consent_required" ? <Badge tone="warn">{text("cards.waits")}</Badge> : null}
        </p>
        <p className="package-more">
          {known.author ? text("cards.by", { author: known.author }) : text("cards.by_unknown")}
          {" · "}
          {text("cards.tool_count", { n: known.tools.length })}
        </p>
        {known.description ? <p className="package-more">{known.description}</p> : null}
      </div>
      {known.status === "consent_required" ? (
        <Button small onClick={() => openCards({ view: "consent", package: known })}>
          {text("cards.review")}
        </Button>
      ) : null}
      {known.accepted_version !== null && hasBoard ? (
        <Button small icon={Plus} busy={busy} onClick={() => void run(() => place(known))}>
          {text("cards.add_to_board")}
        </Button>
      ) : null}
      <Menu trigger={<IconButton small icon={Ellipsis} label={text("cards.more", { name: known.display_name })} />}>
        <MenuItem icon={RefreshCw} disabled={!hasSource(known)} onSelect={() => void run(() => update(known))}>
          {text("cards.update")}
        </MenuItem>
        <MenuItem icon={Trash2} danger onSelect={onRemove}>
          {text("cards.remove")}
        </MenuItem>
      </Menu>
    </li>
  );
}

/** The package's own picture, or a sign for one. */
export function PackageIcon({ known }: { readonly known: CardPackage }) {
  if (known.icon) return <img className="package-icon" src={known.icon} alt="" />;
  return (
    <span className="package-icon">
      <Puzzle aria-hidden size={20} />
    </span>
  );
}
