import { expect, test } from "vitest";
import { type AuditEntry, entriesIn, firstBreak } from "./audit.ts";

function entry(seq: number, previous: string, hash: string): AuditEntry {
  const at = "2026-11-30T10:00:00Z";
  const call = { call_id: `call_${seq}`, agent_id: "agent_1", tool: "add", principal: "owner", surface: "gateway" };
  return { seq, ...call, began_at: at, ended_at: at, status: "completed", previous, hash };
}

test("entries are read from lines, and a chain holds where each names the one before", () => {
  const chain = [entry(3, "b", "c"), entry(2, "a", "b"), entry(1, "0", "a")];
  expect(entriesIn(chain.map((one) => JSON.stringify(one)).join("\n"))).toEqual(chain);
  expect(firstBreak(chain)).toBeUndefined();
  expect(firstBreak([])).toBeUndefined();
});

test("the first entry that does not follow is named", () => {
  expect(firstBreak([entry(4, "c", "d"), entry(3, "x", "c"), entry(2, "a", "b")])).toBe(3);
  expect(firstBreak([entry(5, "b", "e"), entry(2, "a", "b")])).toBe(5);
});
