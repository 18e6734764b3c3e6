import { expect, test } from "vitest";
import type { CallMoment } from "../api/feed.ts";
import { after } from "./store.ts";

function moment(call_id: string, status: string, progress = ""): CallMoment {
  const started_at = "2026-11-30T10:00:00Z";
  const ended_at = status === "running" ? null : "2026-11-30T10:00:02Z";
  const caller = { id: "agent_1", name: "Ada" };
  return {
    type: "call",
    arrow: "arw_1",
    call_id,
    tool: "run_tests",
    caller,
    status,
    started_at,
    ended_at,
    arguments: "{}",
    progress,
    result_preview: "",
  };
}

test("a call runs until its end is told, whatever else runs on its arrow", () => {
  const none = { running: {}, ended: undefined };
  const two = after(after(none, moment("a", "running")), moment("b", "running", "1/2"));
  expect(Object.keys(two.running)).toEqual(["a", "b"]);
  const one = after(two, moment("a", "ok"));
  expect(Object.keys(one.running)).toEqual(["b"]);
  expect(one.ended?.call_id).toBe("a");
});
