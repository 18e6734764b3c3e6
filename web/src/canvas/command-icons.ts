/** How the commands of the board look in lists. */

import {
  Boxes,
  BoxSelect,
  ClipboardPaste,
  Copy,
  CopyPlus,
  Keyboard,
  ListTree,
  type LucideIcon,
  Maximize,
  Network,
  Pencil,
  PencilLine,
  Redo2,
  Scissors,
  Spline,
  Trash2,
  Undo2,
  Ungroup,
  Wand2,
  ZoomIn,
  ZoomOut,
} from "lucide-react";

const ICONS: Readonly<Record<string, LucideIcon>> = {
  wire: Spline,
  open: PencilLine,
  rename: Pencil,
  undo: Undo2,
  redo: Redo2,
  copy: Copy,
  cut: Scissors,
  paste: ClipboardPaste,
  duplicate: CopyPlus,
  remove: Trash2,
  all: BoxSelect,
  group: Boxes,
  ungroup: Ungroup,
  tidy: Network,
  fit: Maximize,
  nearer: ZoomIn,
  farther: ZoomOut,
  calls: ListTree,
  help: Keyboard,
};

export function iconOf(command: string): LucideIcon {
  return ICONS[command] ?? Wand2;
}
