import { expect, test } from "vitest";
import { type Arrow, boardOf, type Card, changed, NOTHING, obstacle, sizeOf } from "./model.ts";

function card(id: string, kind: Card["kind"] = "agent"): Card {
  return { id, kind, title: id, x: 0, y: 0, width: 0, height: 0, content: {}, state: "idle" };
}

function arrow(id: string, source: string, target: string): Arrow {
  return { id, source, target, tools: null, recorded: true };
}

test("changes put and remove what they name, in order", () => {
  const board = changed(NOTHING, [
    { change: "put_card", card: card("a") },
    { change: "put_card", card: card("b", "card") },
    { change: "put_arrow", arrow: arrow("x", "a", "b") },
  ]);
  expect(Object.keys(board.cards)).toEqual(["a", "b"]);
  const after = changed(board, [
    { change: "remove_arrow", id: "x" },
    { change: "remove_card", id: "b" },
    { change: "remove_card", id: "never" },
  ]);
  expect(after).toEqual(boardOf([card("a")], []));
  expect(Object.keys(board.arrows)).toEqual(["x"]); // the board before is as it was
});

test("an arrow needs two cards, an agent or a card among them, and is the only one between them", () => {
  const board = boardOf(
    [card("agent"), card("card", "card"), card("shell", "terminal"), card("note", "note"), card("note2", "note")],
    [arrow("x", "card", "agent")],
  );
  expect(obstacle(board, "agent", "agent")).toBe("same");
  expect(obstacle(board, "agent", "gone")).toBe("same");
  expect(obstacle(board, "agent", "card")).toBe("joined");
  expect(obstacle(board, "shell", "note")).toBe("no_agent");
  expect(obstacle(board, "note", "note2")).toBe("note");
  expect(obstacle(board, "agent", "shell")).toBeUndefined();
  expect(obstacle(board, "card", "shell")).toBeUndefined();
});

test("a card that nobody has resized has its kind's size", () => {
  expect(sizeOf(card("a"))).toEqual({ width: 280, height: 132 });
  expect(sizeOf({ ...card("a"), width: 300, height: 200 })).toEqual({ width: 300, height: 200 });
});
