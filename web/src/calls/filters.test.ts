import { expect, test } from "vitest";
import { boardOf } from "../board/model.ts";
import { exampleIn } from "./ExampleBar.tsx";
import { choicesIn, fitting, NO_FILTERS } from "./filters.ts";
import type { ShownCall } from "./store.ts";

function call(call_id: string, tool: string, status: string, arrow: string): ShownCall {
  const caller = { id: tool === "note_read" ? "owner" : "agent_1", name: "Ada" };
  return { call_id, tool, status, arrow, caller, card: undefined } as unknown as ShownCall;
}

const ARROWS = [
  { id: "arw_1", source: "c1", target: "c2", tools: null, recorded: true },
  { id: "arw_2", source: "c1", target: "c3", tools: null, recorded: true },
];
const CALLS = [call("a", "search", "ok", "arw_1"), call("b", "note_read", "error", "arw_2")];

test("calls are filtered by who called, tool and outcome, and follow what is selected", () => {
  const board = boardOf([], ARROWS);
  const ids = (filters: object, selected?: { kind: "card" | "arrow"; id: string }) =>
    fitting(CALLS, { ...NO_FILTERS, ...filters }, selected, board).map((one) => one.call_id);
  expect(ids({})).toEqual(["b", "a"]);
  expect(ids({ caller: "owner" })).toEqual(["b"]);
  expect(ids({ tool: "search" })).toEqual(["a"]);
  expect(ids({ status: "error" })).toEqual(["b"]);
  expect(ids({}, { kind: "card", id: "c2" })).toEqual(["a"]);
  expect(ids({}, { kind: "arrow", id: "arw_2" })).toEqual(["b"]);
  expect(ids({ follows: false }, { kind: "arrow", id: "arw_2" })).toEqual(["b", "a"]);
  expect(choicesIn(CALLS).tools).toEqual(["note_read", "search"]);
});

test("an example is found on the card that brings it, where an agent's arrow reaches that", () => {
  const example = { tool: "library_read", arguments: { query: "tides" } };
  const card = (id: string, kind: string, content: object) => ({ id, kind, content, title: id }) as never;
  const cards = [card("c1", "agent", {}), card("c2", "card", { example }), card("c3", "card", {})];
  expect(exampleIn(boardOf(cards, ARROWS))).toEqual({ arrow: "arw_1", ...example });
  expect(exampleIn(boardOf(cards, ARROWS.slice(1)))).toBeUndefined();
});
