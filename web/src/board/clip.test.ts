import { expect, test } from "vitest";
import { clipIn, clipOf, copies, moveTo, textOf } from "./clip.ts";
import { type Arrow, boardOf, type Card } from "./model.ts";

const A: Card = {
  id: "a",
  kind: "agent",
  title: "A",
  x: 0,
  y: 0,
  width: 0,
  height: 0,
  content: {},
  state: "idle",
  agent_id: "agent_1",
};
const N: Card = { ...A, id: "n", kind: "note", x: 400, agent_id: null, content: { text: "one" } };
const X: Arrow = { id: "x", source: "a", target: "n", tools: ["read"], recorded: false };
const board = boardOf([A, N, { ...N, id: "other" }], [X, { ...X, id: "y", target: "other" }]);

test("a clip has the arrows that have both ends in it, and goes through a text as it is", () => {
  const clip = clipOf(board, ["a", "n"]);
  expect(clip.arrows).toEqual([X]);
  expect(clipIn(textOf(clip))).toEqual(clip);
});

test("any other text is no clip", () => {
  for (const text of ["", "hello", "{}", '{"is":"toolwire/board/1"}', 'toolwire/board/1 {"cards":[]}']) {
    expect(clipIn(text)).toBeUndefined();
  }
});

test("copies stand for the same agents, stand elsewhere, and are joined to each other", () => {
  const [agent, note, arrow] = copies(clipOf(board, ["a", "n"]), { x: 10, y: 20.4 });
  expect(agent).toMatchObject({ change: "add_card", kind: "agent", agent_id: "agent_1", x: 10, y: 20 });
  expect(note).toMatchObject({ change: "add_card", content: { text: "one" }, x: 410 });
  expect(note).not.toHaveProperty("agent_id");
  expect(note).not.toHaveProperty("state");
  const refs = [agent, note].map((change) => (change?.change === "add_card" ? change.ref : undefined));
  expect(arrow).toEqual({ change: "add_arrow", source: refs[0], target: refs[1], tools: ["read"], recorded: false });
});

test("a clip is moved so that its middle is where it is wanted", () => {
  expect(moveTo({ cards: [{ ...A, x: 100, y: 100, width: 200, height: 100 }], arrows: [] }, { x: 0, y: 0 })).toEqual({
    x: -200,
    y: -150,
  });
});
