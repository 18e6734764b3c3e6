/** The words of the gateway's pages. */

export const en = {
  "gateway.agents.title": "Agents",
} as const;

export const zh: Record<keyof typeof en, string> = {
  "gateway.agents.title": "智能体",
};
