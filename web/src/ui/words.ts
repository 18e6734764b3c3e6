/** The words of the design system. */

export const en = {
  "ui.close": "Close",
  "ui.cancel": "Cancel",
  "ui.copy": "Copy",
  "ui.copied": "Copied",
  "ui.messages": "Messages",
  "ui.delete": "Delete",
  "ui.save": "Save",
  "ui.loading": "Loading…",
  "ui.try_again": "Try again",
} as const;

export const zh: Record<keyof typeof en, string> = {
  "ui.close": "关闭",
  "ui.cancel": "取消",
  "ui.copy": "复制",
  "ui.copied": "已复制",
  "ui.messages": "消息",
  "ui.delete": "删除",
  "ui.save": "保存",
  "ui.loading": "加载中…",
  "ui.try_again": "重试",
};
