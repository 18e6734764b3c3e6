import { expect, test } from "vitest";
import { shownSize } from "./size.ts";

test("a size has one digit behind the point where it is small", () => {
  expect([0, 999, 1_000, 9_500, 12_345, 104_857_600, 1e15].map(shownSize)).toEqual([
    "0 B",
    "999 B",
    "1.0 kB",
    "9.5 kB",
    "12 kB",
    "105 MB",
    "1000 TB",
  ]);
});
