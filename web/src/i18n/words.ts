/** The words of all rooms together, by language; each room keeps its own in `words.ts`, under keys that begin with its name. */

import * as agents from "../agents/words.ts";
import * as app from "../app/words.ts";
import * as board from "../board/words.ts";
import * as calls from "../calls/words.ts";
import * as canvas from "../canvas/words.ts";
import * as cards from "../cards/words.ts";
import * as chat from "../chat/words.ts";
import * as gateway from "../gateway/words.ts";
import * as terminals from "../terminals/words.ts";
import * as ui from "../ui/words.ts";

const ROOMS = [app, ui, board, canvas, calls, cards, terminals, agents, chat, gateway] as const;

export const en = merged((room) => room.en);
export const zh = merged((room) => room.zh);

export type TextKey = keyof UnionToIntersection<(typeof ROOMS)[number]["en"]>;

type UnionToIntersection<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void ? I : never;

function merged(wordsOf: (room: (typeof ROOMS)[number]) => Readonly<Record<string, string>>): Record<TextKey, string> {
  return Object.assign({}, ...ROOMS.map(wordsOf)) as Record<TextKey, string>;
}
