/** The words of the chat. */

export const en = {
  "chat.chat": "Chat",
} as const;

export const zh: Record<keyof typeof en, string> = {
  "chat.chat": "对话",
};
