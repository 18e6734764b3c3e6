import { expect, test } from "vitest";
import type { CallMoment } from "../api/feed.ts";
import { activityOf } from "./activity.ts";
import { duration } from "./duration.ts";
import { durationOf, MOST_LATEST, shownOf, taken } from "./store.ts";

const EMPTY = { places: {}, latest: new Map() };

function moment(call_id: string, status: string, progress = "", more: object = {}): CallMoment {
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
    ...more,
  };
}

function told(...moments: readonly CallMoment[]) {
  return taken(
    EMPTY,
    moments.map((one) => shownOf(one, 1000, undefined)),
  );
}

test("a call runs until its end is told, whatever else runs on its arrow", () => {
  const two = told(moment("a", "running"), moment("b", "running", "1/2"));
  expect(Object.keys(two.places.arw_1?.running ?? {})).toEqual(["a", "b"]);
  const one = taken(two, [shownOf(moment("a", "ok"), 3000, two.latest.get("a"))]);
  expect(Object.keys(one.places.arw_1?.running ?? {})).toEqual(["b"]);
  expect(one.places.arw_1?.ended?.call_id).toBe("a");
  expect(durationOf(one.places.arw_1?.ended as never, 0)).toBe(2000);
});

test("what changes on one arrow leaves the others as they were, so that nothing else is drawn again", () => {
  const before = told(moment("a", "running"), moment("b", "running", "", { arrow: "arw_2" }));
  const next = taken(before, [shownOf(moment("a", "running", "2/3"), 3000, before.latest.get("a"))]);
  expect(next.places.arw_2).toBe(before.places.arw_2);
  expect(next.places.arw_1).not.toBe(before.places.arw_1);
});

test("a call by way of the gateway shows on the card of its agent", () => {
  const { arrow: _, ...rest } = moment("a", "running");
  const state = told({ ...rest, card: "card_1" } as unknown as CallMoment);
  expect(activityOf(state.places, ["card_1"])).toBe("running");
});

test("a card is as lively as the calls of its arrows, and failed when the latest did", () => {
  expect(activityOf(told(moment("a", "error")).places, ["arw_1"])).toBe("failed");
  expect(activityOf(told(moment("a", "cancelled")).places, ["arw_1"])).toBeUndefined();
  const mixed = told(moment("a", "error"), moment("b", "running", "", { arrow: "arw_2" }));
  expect(activityOf(mixed.places, ["arw_1", "arw_2"])).toBe("running");
});

test("of many calls the latest are kept", () => {
  const many = Array.from({ length: MOST_LATEST + 5 }, (_, at) => moment(`c${at}`, "ok"));
  const state = told(...many);
  expect(state.latest.size).toBe(MOST_LATEST);
  expect(state.latest.has("c0")).toBe(false);
});

test("times are said as people say them", () => {
  expect([45, 432, 2345, 12_900, 185_000, 3_720_000].map((ms) => duration(ms))).toEqual([
    "45 ms",
    "0.4 s",
    "2.3 s",
    "12 s",
    "3 min 5 s",
    "1 h 2 min",
  ]);
  expect(duration(3999, true)).toBe("3 s");
});
