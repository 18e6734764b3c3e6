import { expect, test } from "vitest";
import { freePlace } from "./place.ts";

const size = { width: 100, height: 100 };

test("something new stands where it is wanted, or else beside what is there", () => {
  expect(freePlace([], { x: 5, y: 5, ...size })).toEqual({ x: 5, y: 5 });
  const there = { x: 0, y: 0, ...size };
  const place = freePlace([there], { x: 0, y: 0, ...size });
  expect(place).toEqual({ x: 180, y: 0 });
  expect(freePlace([there, { ...place, ...size }], { x: 0, y: 0, ...size })).not.toEqual(place);
});
