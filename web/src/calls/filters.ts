/** Which calls a panel shows: by who called, which tool, how it ended, and what is selected on the board. */

import type { Board } from "../board/model.ts";
import type { Selected } from "../board/selection.ts";
import type { ShownCall } from "./store.ts";

export interface Filters {
  /** The id of a caller; "" for all, and so on. */
  readonly caller: string;
  readonly tool: string;
  readonly status: string;
  /** Whether only calls of what is selected are shown. */
  readonly follows: boolean;
}

export const NO_FILTERS: Filters = { caller: "", tool: "", status: "", follows: true };

/** How many calls are shown at once. */
export const MOST_SHOWN = 100;

/** The calls that fit, the newest first. */
export function fitting(
  calls: Iterable<ShownCall>,
  filters: Filters,
  selected: Selected | undefined,
  board: Board,
): readonly ShownCall[] {
  const found = [...calls].filter(
    (call) =>
      (filters.caller === "" || call.caller.id === filters.caller) &&
      (filters.tool === "" || call.tool === filters.tool) &&
      (filters.status === "" || call.status === filters.status) &&
      (!filters.follows || selected === undefined || isOf(call, selected, board)),
  );
  return found.slice(-MOST_SHOWN).reverse();
}

function isOf(call: ShownCall, selected: Selected, board: Board): boolean {
  if (selected.kind === "arrow") return call.arrow === selected.id;
  if (call.card === selected.id) return true;
  const arrow = call.arrow === undefined ? undefined : board.arrows[call.arrow];
  return arrow !== undefined && (arrow.source === selected.id || arrow.target === selected.id);
}

export interface Choices {
  /** Names by the ids of callers. */
  readonly callers: ReadonlyMap<string, string>;
  readonly tools: readonly string[];
  readonly statuses: readonly string[];
}

/** What can be chosen among calls. */
export function choicesIn(calls: Iterable<ShownCall>): Choices {
  const callers = new Map<string, string>();
  const tools = new Set<string>();
  const statuses = new Set<string>();
  for (const call of calls) {
    callers.set(call.caller.id, call.caller.name);
    tools.add(call.tool);
    statuses.add(call.status);
  }
  return { callers, tools: [...tools].sort(), statuses: [...statuses].sort() };
}
