import { expect, test } from "vitest";
import { pathOf, routeOf } from "./routes.ts";

test("every address means a page, and every page has its address", () => {
  for (const path of ["/", "/w/ws_1", "/gateway/agents", "/gateway/files/file_1"]) {
    expect(pathOf(routeOf(path))).toBe(path);
  }
  expect(routeOf("/gateway/nothing")).toEqual({ page: "unknown" });
  expect(routeOf("/elsewhere")).toEqual({ page: "unknown" });
});
