/** The words of calls. */

export const en = {
  "calls.log": "Calls",
  "calls.none": "No calls yet",
  "calls.status.running": "Running",
  "calls.status.ok": "Done",
  "calls.status.error": "Failed",
  "calls.status.timeout": "Timed out",
  "calls.status.cancelled": "Cancelled",
  "calls.status.denied": "Denied",
} as const;

export const zh: Record<keyof typeof en, string> = {
  "calls.log": "调用",
  "calls.none": "还没有调用",
  "calls.status.running": "运行中",
  "calls.status.ok": "完成",
  "calls.status.error": "失败",
  "calls.status.timeout": "超时",
  "calls.status.cancelled": "已取消",
  "calls.status.denied": "已拒绝",
};
