import { expect, test } from "vitest";
import type { Living, Phase } from "./living.ts";
import { MOST_FRAMES, overlaps, plan } from "./sleep.ts";

function living(phase: Phase, wantedUntil = 0, calls = 0): Living {
  return { phase, run: 1, why: "", calls, wantedUntil };
}

test("what is in sight starts, unless it runs elsewhere or has failed", () => {
  const cards = { a: living("asleep"), b: living("elsewhere"), c: living("failed"), d: living("awake", 100) };
  expect(plan(cards, new Set(["a", "b", "c", "d"]), 50)).toEqual({ start: ["a"], sleep: [] });
});

test("what is out of sight sleeps once its time is over, but not while it works on a call", () => {
  const cards = { a: living("awake", 100), b: living("awake", 100, 1), c: living("awake", 200) };
  expect(plan(cards, new Set(), 150).sleep).toEqual(["a"]);
  expect(plan(cards, new Set(["a"]), 150).sleep).toEqual([]);
});

test("there are so many frames at most: what is in sight takes the places of what was out of it longest", () => {
  const awake = Object.fromEntries(
    Array.from({ length: MOST_FRAMES }, (_, at) => [`old${at}`, living("awake", 1_000 + at)]),
  );
  const cards = { ...awake, a: living("asleep"), b: living("asleep") };
  expect(plan(cards, new Set(["a", "b"]), 0)).toEqual({ start: ["a", "b"], sleep: ["old0", "old1"] });
  const all = new Set(Object.keys(cards));
  expect(plan(cards, all, 0)).toEqual({ start: [], sleep: [] });
});

test("rectangles that only touch do not overlap", () => {
  const one = { x: 0, y: 0, width: 10, height: 10 };
  expect(overlaps(one, { x: 9, y: 9, width: 5, height: 5 })).toBe(true);
  expect(overlaps(one, { x: 10, y: 0, width: 5, height: 5 })).toBe(false);
});
