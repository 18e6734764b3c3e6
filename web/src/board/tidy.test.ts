import { expect, test } from "vitest";
import { groupAround, membersOf } from "./groups.ts";
import { type Arrow, boardOf, type Card } from "./model.ts";
import { tidied } from "./tidy.ts";

function card(id: string, x: number, y: number, kind: Card["kind"] = "note"): Card {
  return { id, kind, title: id, x, y, width: 100, height: 60, content: {}, state: "idle" };
}

function arrow(source: string, target: string): Arrow {
  return { id: `${source}-${target}`, source, target, tools: null, recorded: true };
}

const group: Card = { ...card("g", 0, 0, "group"), width: 400, height: 300 };

test("what has its middle inside a frame belongs to it, and so do smaller frames", () => {
  const small = { ...group, id: "small", width: 100, height: 100, x: 20, y: 20 };
  const board = boardOf([group, small, card("in", 340, 250), card("out", 380, 250)], []);
  expect(membersOf(board, group).map((one) => one.id)).toEqual(["small", "in"]);
  expect(membersOf(board, small)).toEqual([]);
});

test("a group is made around cards with room for its head", () => {
  expect(groupAround([card("a", 0, 0), card("b", 200, 100)])).toEqual({ x: -28, y: -62, width: 356, height: 250 });
});

test("tidying puts what is called to the right of what calls, and nothing above another", async () => {
  const board = boardOf(
    [card("c", 0, 0), card("b", 5, 5), card("a", 10, 10, "agent")],
    [arrow("a", "b"), arrow("a", "c")],
  );
  const at = Object.fromEntries((await tidied(board)).map((change) => ["id" in change ? change.id : "", change]));
  const [a, b, c] = [at.a, at.b, at.c] as { x: number; y: number }[];
  expect(b?.x).toBeGreaterThan((a?.x ?? 0) + 100);
  expect(c?.x).toBe(b?.x);
  expect(Math.abs((b?.y ?? 0) - (c?.y ?? 0))).toBeGreaterThanOrEqual(60);
});

test("what is in a group stays in it, and the group is as large as it needs to be", async () => {
  const board = boardOf(
    [group, card("in", 100, 100), card("in2", 110, 110), card("out", 900, 0)],
    [arrow("in", "out")],
  );
  const changes = await tidied(board);
  const put = new Map(changes.flatMap((change) => (change.change === "put_card" ? [[change.id, change]] : [])));
  const after = boardOf(
    Object.values(board.cards).map((one) => ({ ...one, ...put.get(one.id) }) as Card),
    [],
  );
  const tidy = after.cards.g as Card;
  expect(membersOf(after, tidy).map((one) => one.id)).toEqual(["in", "in2"]);
  expect(after.cards.out?.x).toBeGreaterThan(tidy.x + tidy.width);
});

test("only what is chosen is moved", async () => {
  const board = boardOf([card("a", 0, 0), card("b", 0, 0), card("c", 0, 0)], []);
  expect((await tidied(board, ["a", "b"])).map((change) => "id" in change && change.id)).toEqual(["a", "b"]);
});
