/** The words of cards. */

export const en = {
  "cards.card": "Card",
} as const;

export const zh: Record<keyof typeof en, string> = {
  "cards.card": "卡片",
};
