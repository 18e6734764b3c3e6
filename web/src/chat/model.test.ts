import { expect, test } from "vitest";
import { openQuestion, type Row, turnsOf, verdictOn } from "./model.ts";

let offset = 0;

function row(type: string, payload: Record<string, unknown>, in_reply_to?: string, message_id = `row_${offset}`): Row {
  offset += 1;
  const made = { message_id, channel_id: "ch", offset, type, payload, publisher_id: "a", created_at: "", metadata: {} };
  return in_reply_to === undefined ? made : { ...made, in_reply_to };
}

const ASKED = [
  row("chat_message", { message: "mail ada" }, undefined, "msg_1"),
  row("agent_reply_delta", { text: "I " }, "msg_1"),
  row("agent_reply_delta", { text: "look." }, "msg_1"),
  row("agent_reply_delta", { text: "", progress: { progress: 1, message: "calling look_up" } }, "msg_1"),
  row("agent.input_required", { text: "may I?", approvals: [{ call_id: "t1", tool: "send_mail" }] }, "msg_1", "q1"),
];

test("what the agent writes and does stands under what was said, in order", () => {
  const [turn] = turnsOf(ASKED);
  expect(turn?.said).toBe("mail ada");
  expect(turn?.pieces.map((piece) => piece.text)).toEqual(["I look.", "calling look_up", "may I?"]);
});

test("a question is open until somebody decides, or the turn goes on or ends", () => {
  const open = (...more: Row[]) => openQuestion(turnsOf([...ASKED, ...more])[0] as never)?.id;
  expect(open()).toBe("q1");
  expect(open(row("user.continue", { approve: ["t1"] }, "q1"))).toBeUndefined();
  expect(open(row("agent_reply_delta", { text: "on" }, "msg_1"))).toBeUndefined();
  expect(open(row("agent_reply", { text: "done" }, "msg_1"))).toBeUndefined();
});

test("the end stands for the draft before it, and for no earlier words", () => {
  const [turn] = turnsOf([
    ...ASKED,
    row("agent_reply_delta", { text: "se" }, "msg_1"),
    row("agent_reply", { text: "sent" }, "msg_1"),
  ]);
  expect(turn?.pieces.map((piece) => piece.kind)).toEqual(["text", "step", "question"]);
  expect(turn?.end).toEqual({ isError: false, text: "sent", content: [] });
});

test("a no outweighs a yes", () => {
  expect(verdictOn("t1", { approve: true, deny: ["t1"] })).toBe("denied");
  expect(verdictOn("t1", { approve: true })).toBe("approved");
  expect(verdictOn("t1", { approve: ["t2"] })).toBeUndefined();
});
