import { expect, test } from "vitest";
import type { Schemas } from "../api/client.ts";
import { withQuestion } from "./questions.ts";

function question(id: string, asked_at: string, remaining_ms = 1_000): Schemas["WaitingQuestion"] {
  return {
    id,
    workspace: { id: "ws_1", name: "desk" },
    card: { id: "card_1", name: "Test radar" },
    title: "Delete all?",
    message: "",
    confirm_label: "",
    cancel_label: "",
    tone: "neutral",
    agent: "writer",
    tool: "run_tests",
    call_id: "call_1",
    asked_at,
    expires_at: asked_at,
    remaining_ms,
  };
}

test("several questions queue by the time at which they were asked, each once, each with its own end", () => {
  const two = withQuestion(
    withQuestion([], question("b", "2026-11-30T10:00:02Z"), 0),
    question("a", "2026-11-30T10:00:01Z", 500),
    100,
  );
  expect(two.map(({ id, until }) => [id, until])).toEqual([
    ["a", 600],
    ["b", 1_000],
  ]);
  expect(withQuestion(two, question("a", "2026-11-30T10:00:01Z", 9_000), 200)).toBe(two);
});
