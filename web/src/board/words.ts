/** The words of workspaces and boards. */

export const en = {
  "workspace.choose": "Workspace",
  "workspace.new": "New workspace",
  "workspace.untitled": "Workspace",
  "workspace.rename": "Rename",
  "kind.agent": "Agent",
  "kind.card": "Card",
  "kind.terminal": "Terminal",
  "kind.note": "Note",
  "kind.group": "Group",
} as const;

export const zh: Record<keyof typeof en, string> = {
  "workspace.choose": "工作区",
  "workspace.new": "新建工作区",
  "workspace.untitled": "工作区",
  "workspace.rename": "重命名",
  "kind.agent": "智能体",
  "kind.card": "卡片",
  "kind.terminal": "终端",
  "kind.note": "便签",
  "kind.group": "分组",
};
