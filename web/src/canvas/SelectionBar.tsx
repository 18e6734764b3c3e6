/** What can be done with what is chosen, for those who have no keyboard, or do not know the keys. */

import { Boxes, Copy, type LucideIcon, Network, Spline, Trash2, Ungroup } from "lucide-react";
import { shownKeys } from "../app/shortcuts.ts";
import { useSelection } from "../board/selection.ts";
import { useBoard } from "../board/store.ts";
import { useText } from "../i18n/text.ts";
import { IconButton } from "../ui/Button.tsx";
import { command } from "./commands.ts";
import "./selection-bar.css";

const OFFERED: readonly (readonly [string, LucideIcon])[] = [
  ["wire", Spline],
  ["duplicate", Copy],
  ["group", Boxes],
  ["ungroup", Ungroup],
  ["remove", Trash2],
];

export function SelectionBar() {
  const text = useText();
  const count = useSelection((state) => state.cards.length + state.arrows.length);
  useBoard((state) => state.board.cards); // what is possible depends on what they are
  if (count === 0) return null;
  const several: readonly (readonly [string, LucideIcon])[] = count > 1 ? [["tidy", Network]] : [];
  return (
    <div className="selection-bar" role="toolbar" aria-label={text("canvas.chosen", { count })}>
      <span>{text("canvas.chosen", { count })}</span>
      {[...several, ...OFFERED].map(([id, icon]) => {
        const { name, keys, isPossible, run } = command(id);
        const label = `${text(name)} (${shownKeys(keys[0] ?? "")})`;
        return isPossible() ? <IconButton key={id} small icon={icon} label={label} side="top" onClick={run} /> : null;
      })}
    </div>
  );
}
