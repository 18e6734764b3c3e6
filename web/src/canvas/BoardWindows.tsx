/** The window that is open above the board: the palette, wiring by name, a new name, the shortcuts. */

import { shownKeys } from "../app/shortcuts.ts";
import { changeCard, useBoard } from "../board/store.ts";
import { useText } from "../i18n/text.ts";
import { Dialog } from "../ui/Dialog.tsx";
import "./board-windows.css";
import { COMMANDS } from "./commands.ts";
import { NameDialog } from "./NameDialog.tsx";
import { Palette } from "./Palette.tsx";
import { focusCard, openWindow, useView } from "./view.ts";
import { WirePicker } from "./WirePicker.tsx";

export function BoardWindows() {
  const window = useView((state) => state.window);
  switch (window?.is) {
    case "palette":
      return <Palette at={window.at} from={window.from} />;
    case "wire":
      return <WirePicker from={window.from} arrow={window.arrow} />;
    case "rename":
      return <Rename key={window.card} id={window.card} />;
    case "shortcuts":
      return <Shortcuts />;
    default:
      return null;
  }
}

function Rename({ id }: { readonly id: string }) {
  const text = useText();
  const title = useBoard((state) => state.board.cards[id]?.title ?? "");
  return (
    <NameDialog
      title={text("canvas.do.rename")}
      label={text("canvas.name")}
      initial={title}
      onClose={() => {
        openWindow(undefined);
        focusCard(id);
      }}
      onNamed={(name) => changeCard(id, { title: name })}
    />
  );
}

function Shortcuts() {
  const text = useText();
  const more = [
    ["Tab", "canvas.keys.tab"],
    ["← ↑ → ↓", "canvas.keys.move"],
    [`${shownKeys("alt")} ← ↑ → ↓`, "canvas.keys.size"],
    ["Shift", "canvas.keys.shift"],
    [shownKeys("mod"), "canvas.keys.mod"],
  ] as const;
  return (
    <Dialog wide title={text("canvas.do.help")} onClose={() => openWindow(undefined)}>
      <dl className="shortcuts">
        {COMMANDS.map((one) => (
          <div key={one.id}>
            <dt>{text(one.name)}</dt>
            <dd>
              {one.keys.slice(0, 2).map((keys) => (
                <kbd key={keys}>{shownKeys(keys)}</kbd>
              ))}
            </dd>
          </div>
        ))}
        {more.map(([keys, name]) => (
          <div key={name}>
            <dt>{text(name)}</dt>
            <dd>
              <kbd>{keys}</kbd>
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
