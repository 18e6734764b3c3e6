/** The words of terminals. */

export const en = {
  "terminals.terminal": "Terminal",
} as const;

export const zh: Record<keyof typeof en, string> = {
  "terminals.terminal": "终端",
};
