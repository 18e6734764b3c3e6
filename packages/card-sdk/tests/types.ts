/** What the compiler holds authors to; nothing here is run. Each line that must not compile says so. */

import type { CallCancelled, ToolCall } from "@toolwire/card-sdk";
import { card, isCardSdkError, toolImage, toolResult } from "@toolwire/card-sdk";
import { useTool } from "@toolwire/card-sdk/react";

card.tools.handle<{ filter: string }>("a", ({ filter }) => filter.length);
// @ts-expect-error -- the arguments have no such name
card.tools.handle<{ filter: string }>("a", ({ other }) => other);
card.tools.handle("a", (args) => args["anything"]);
// @ts-expect-error -- what an author has not described is JSON, and may not be a string
card.tools.handle("a", (args) => args["anything"].length);
const unregister: () => void = card.tools.handle("a", async () => undefined);
unregister();

export function Component({ text }: { readonly text: string }) {
  useTool<{ n: number }>("a", ({ n }, call) => text.repeat(n) + call.agent.name);
  // @ts-expect-error -- a handler is a function
  useTool("a", text);
  return null;
}

export async function asks(call: ToolCall): Promise<void> {
  const ran = await card.terminals.run("t", "ls", { timeoutMs: 1_000, call });
  // @ts-expect-error -- it may still be running
  const code: number = ran.exitCode;
  const kept = await card.storage.get<string[]>("k");
  // @ts-expect-error -- nothing may be kept
  kept.length;
  // @ts-expect-error -- a question has a title
  await card.ui.confirm({ message: "sure?" });
  // @ts-expect-error -- a call is not changed
  call.deadline = 0;
  const reason = call.signal.reason as CallCancelled;
  if (reason.code === "deadline") return;
  // @ts-expect-error -- there is no such code
  if (reason.code === "else") return;
  for (const peer of await card.agents.list()) if (peer.kind === "shell" && peer.connected) void code;
}

toolImage("", "image/png");
// @ts-expect-error -- agents do not take such pictures
toolImage("", "image/tiff");
toolResult(["a", { type: "text", text: "b" }, toolImage("")]);

export function told(error: unknown): number | undefined {
  return isCardSdkError(error, "rate_limited") ? error.retryAfterMs : undefined;
}
