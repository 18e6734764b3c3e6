/** The words of the canvas. */

export const en = {
  "canvas.label": "Canvas of {name}",
  "canvas.empty.title": "Nothing here yet",
  "canvas.empty.text":
    "Add an agent, a card or a terminal, then draw an arrow between them: the agent may use what the arrow points to.",
  "canvas.add": "Add",
  "canvas.add_agent": "Add an agent",
  "canvas.add_terminal": "Add a terminal",
  "canvas.add_note": "Add a note",
  "canvas.undo": "Undo",
  "canvas.redo": "Redo",
} as const;

export const zh: Record<keyof typeof en, string> = {
  "canvas.label": "{name} 的画布",
  "canvas.empty.title": "这里还没有内容",
  "canvas.empty.text": "添加智能体、卡片或终端，再用箭头把它们连起来：箭头所连的，智能体就可以使用。",
  "canvas.add": "添加",
  "canvas.add_agent": "添加智能体",
  "canvas.add_terminal": "添加终端",
  "canvas.add_note": "添加便签",
  "canvas.undo": "撤销",
  "canvas.redo": "重做",
};
