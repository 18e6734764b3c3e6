/** The words of workspaces and boards. */

export const en = {
  "workspace.choose": "Workspace",
  "workspace.new": "New workspace",
  "workspace.untitled": "Workspace",
  "workspace.rename": "Rename",
  "workspace.import": "Import a workspace…",
  "workspace.import.not_one": "This file is no exported workspace.",
  "workspace.export": "Export",
  "workspace.close": "Close to agents",
  "workspace.open": "Open to agents",
  "workspace.closed": "This workspace is closed: agents are told to have it opened before they use what is in it.",
  "workspace.remove": "Delete workspace",
  "workspace.remove.text":
    "“{name}” is deleted with everything on its board, and what its cards have kept. Its agents stay.",
  "workspace.name": "Name of the workspace",
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
  "workspace.import": "导入工作区…",
  "workspace.import.not_one": "这个文件不是导出的工作区。",
  "workspace.export": "导出",
  "workspace.close": "对智能体关闭",
  "workspace.open": "对智能体开放",
  "workspace.closed": "此工作区已关闭：智能体须等它重新开放，才能使用其中的内容。",
  "workspace.remove": "删除工作区",
  "workspace.remove.text": "将删除“{name}”、画布上的全部内容以及卡片保存的数据。智能体会保留。",
  "workspace.name": "工作区名称",
  "kind.agent": "智能体",
  "kind.card": "卡片",
  "kind.terminal": "终端",
  "kind.note": "便签",
  "kind.group": "分组",
};
