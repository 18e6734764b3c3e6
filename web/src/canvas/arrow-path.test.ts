import { expect, test } from "vitest";
import { sides } from "./arrow-path.ts";

const box = (x: number, y: number) => ({ x, y, width: 100, height: 50 });

test("an arrow leaves and meets cards at the sides that face each other", () => {
  expect(sides(box(0, 0), box(300, 0))).toEqual(["right", "left"]);
  expect(sides(box(300, 200), box(0, 0))).toEqual(["left", "right"]);
  expect(sides(box(0, 0), box(20, 200))).toEqual(["bottom", "top"]);
  expect(sides(box(20, 200), box(0, 0))).toEqual(["top", "bottom"]);
});
