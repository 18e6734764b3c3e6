/** How the kinds of cards look: their icons. */

import { Bot, type LucideIcon, Puzzle, SquareDashed, SquareTerminal, StickyNote } from "lucide-react";
import type { Kind } from "../board/model.ts";

export const KIND_ICONS: Readonly<Record<Kind, LucideIcon>> = {
  agent: Bot,
  card: Puzzle,
  terminal: SquareTerminal,
  note: StickyNote,
  group: SquareDashed,
};
