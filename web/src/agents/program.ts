/** The program of an agent's card, which its content names; a card that has one is large enough to show it. */

import { type Card, sizeOf } from "../board/model.ts";
import { changeCard } from "../board/store.ts";

const ROOMY = { width: 620, height: 420 };

export function commandOf(card: Card): string {
  return typeof card.content.command === "string" ? card.content.command : "";
}

export async function keepCommand(card: Card, command: string): Promise<void> {
  const { command: _, ...rest } = card.content;
  if (!command) {
    await changeCard(card.id, { content: rest });
    return;
  }
  const size = sizeOf(card);
  const isSmall = size.width < ROOMY.width || size.height < ROOMY.height;
  const grown = { width: Math.max(size.width, ROOMY.width), height: Math.max(size.height, ROOMY.height) };
  await changeCard(card.id, { content: { ...rest, command }, ...(isSmall ? grown : {}) });
}
