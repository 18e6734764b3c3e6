/** What a conversation asks of the host: its rows, messages to the agent, decisions, and the conversations before. */

import { api, ask, type Schemas } from "../api/client.ts";
import type { Decision, Question, Row } from "./model.ts";

const AT_ONCE = 500;
const MOST_PAGES = 10;
const MOST_OTHERS = 10;

export interface Conversation {
  readonly id: string;
  /** When it was spoken in last. */
  readonly at: string;
}

/** The owner's conversations with an agent, and those of others that go on now, the latest first. */
export async function readConversations(agent: string): Promise<readonly Conversation[]> {
  const latest = new Map<string, string>(await readOthers(agent));
  let after: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = { limit: 200, ...(after === undefined ? {} : { after }) };
    const { tasks, more } = await ask(api.GET("/api/v1/agents/{agent}/tasks", { params: { path: { agent }, query } }));
    for (const task of tasks) {
      if (task.tool === "message" && task.context_id) latest.set(task.context_id, task.created_at);
    }
    after = tasks.at(-1)?.task_id;
    if (!more) break;
  }
  return [...latest].map(([id, at]) => ({ id, at })).sort((one, other) => (one.at < other.at ? 1 : -1));
}

/** Where others wait for an answer of the agent, which may ask its owner for something meanwhile. */
async function readOthers(agent: string): Promise<readonly (readonly [string, string])[]> {
  const query = { agent, tool: "message", status: ["running" as const, "input_required" as const], limit: MOST_OTHERS };
  const { calls } = await ask(api.GET("/api/v1/calls", { params: { query } }));
  const others = calls.filter((call) => call.task_id === null);
  const whole = await Promise.all(
    others.map(({ call_id }) => ask(api.GET("/api/v1/calls/{call}", { params: { path: { call: call_id } } }))),
  );
  return whole.flatMap((call) => (call.context_id === null ? [] : [[call.context_id, call.started_at] as const]));
}

/** The rows of a conversation after an offset. */
export async function readRows(channel: string, since: number): Promise<readonly Row[]> {
  const found: Row[] = [];
  let from = since;
  for (;;) {
    const query = { since: from, limit: AT_ONCE };
    const page = await ask(api.GET("/api/v1/channels/{channel}/messages", { params: { path: { channel }, query } }));
    found.push(...page.messages);
    if (page.messages.length < AT_ONCE) return found;
    from = page.messages.at(-1)?.offset ?? from;
  }
}

export async function say(agent: string, message: string, context: string | undefined): Promise<Schemas["Task"]> {
  const body = { message, ...(context === undefined ? {} : { context_id: context }) };
  return ask(api.POST("/api/v1/agents/{agent}/tasks", { params: { path: { agent } }, body }));
}

export async function readTask(agent: string, task: string): Promise<Schemas["Task"]> {
  return ask(api.GET("/api/v1/agents/{agent}/tasks/{task}", { params: { path: { agent, task } } }));
}

export async function stop(agent: string, task: string): Promise<void> {
  await ask(api.POST("/api/v1/agents/{agent}/tasks/{task}/cancel", { params: { path: { agent, task } } }));
}

export async function decide(channel: string, question: Question, decision: Decision): Promise<void> {
  const body = { type: "user.continue", in_reply_to: question.id, payload: { ...decision } };
  await ask(api.POST("/api/v1/channels/{channel}/messages", { params: { path: { channel } }, body }));
}

export async function answerForm(
  agent: string,
  task: string,
  key: string,
  given: Record<string, unknown>,
): Promise<void> {
  const path = { params: { path: { agent, task } } };
  await ask(api.POST("/api/v1/agents/{agent}/tasks/{task}/continue", { ...path, body: { answers: { [key]: given } } }));
}
