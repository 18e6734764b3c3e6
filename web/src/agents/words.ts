/** The words of agents on the canvas. */

export const en = {
  "agents.agent": "Agent",
  "agents.online": "Online",
  "agents.offline": "Offline",
} as const;

export const zh: Record<keyof typeof en, string> = {
  "agents.agent": "智能体",
  "agents.online": "在线",
  "agents.offline": "离线",
};
