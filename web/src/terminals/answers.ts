/** Keeps xterm from answering what programs ask of the terminal while somebody else does, or while the past is shown. */

import type { IFunctionIdentifier, Terminal } from "@xterm/xterm";

/** Device attributes, status reports, modes, and the version: sequences whose answer would be typed. */
const ASKING: readonly IFunctionIdentifier[] = [
  { final: "c" },
  { prefix: ">", final: "c" },
  { prefix: "=", final: "c" },
  { final: "n" },
  { prefix: "?", final: "n" },
  { prefix: ">", final: "q" },
  { intermediates: "$", final: "p" },
  { prefix: "?", intermediates: "$", final: "p" },
  { final: "t" },
];
/** Colours, which are asked for with a question mark: the palette, the text, the background and the cursor. */
const COLOURS: readonly number[] = [4, 10, 11, 12];

export function answerOnly(terminal: Terminal, mayAnswer: () => boolean): void {
  for (const id of ASKING) terminal.parser.registerCsiHandler(id, () => !mayAnswer());
  terminal.parser.registerDcsHandler({ intermediates: "$", final: "q" }, () => !mayAnswer());
  for (const id of COLOURS) {
    terminal.parser.registerOscHandler(id, (data) => data.includes("?") && !mayAnswer());
  }
}
