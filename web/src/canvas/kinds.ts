/** How the kinds of cards look: their icons, and how small they can be made. */

import { Bot, type LucideIcon, Puzzle, SquareDashed, SquareTerminal, StickyNote } from "lucide-react";
import type { Kind } from "../board/model.ts";

export const KIND_ICONS: Readonly<Record<Kind, LucideIcon>> = {
  agent: Bot,
  card: Puzzle,
  terminal: SquareTerminal,
  note: StickyNote,
  group: SquareDashed,
};

export const LEAST: Readonly<Record<Kind, { readonly minWidth: number; readonly minHeight: number }>> = {
  agent: { minWidth: 200, minHeight: 100 },
  card: { minWidth: 200, minHeight: 120 },
  terminal: { minWidth: 280, minHeight: 160 },
  note: { minWidth: 140, minHeight: 90 },
  group: { minWidth: 200, minHeight: 120 },
};
