/** The TypeScript of the page that this package follows, word for word but for the import. */

import { card } from "@toolwire/card-sdk";
import { createMockHost } from "@toolwire/card-sdk/testing";
import { afterEach, expect, test } from "vitest";
import { manifest } from "./manifest.js";
import "./seed/test-radar.js";

const shell = { id: "trm_1", name: "shell", kind: "shell" } as const;
const hosts: Array<{ close(): void }> = [];
afterEach(() => hosts.splice(0).forEach((host) => host.close()));

async function hostOf(options: Omit<Parameters<typeof createMockHost>[0], "manifest">) {
  const host = createMockHost({ manifest, ...options });
  hosts.push(host);
  await host.connect({ card });
  return host;
}

test("the tests run in the connected terminal, and the agent hears that all have passed", async () => {
  const host = await hostOf({ agents: [shell], run: () => ({ exitCode: 0 }) });
  const called = host.callTool("run_tests", { filter: "login" }, { agent: "claude" });
  expect(await called).toEqual({ content: [{ type: "text", text: "All tests passed" }] });
  expect(host.progress).toEqual([{ callId: called.callId, message: "running the tests…" }]);
  const ran = host.calls.find(({ method }) => method === "terminals.run");
  expect(ran?.params).toEqual({
    terminal: "trm_1",
    command: "npm test -- login",
    timeoutMs: 110000,
    card: "crd_mock",
    callId: called.callId,
  });
});

test("the agent gets the output of tests that fail", async () => {
  const host = await hostOf({ agents: [shell], run: () => ({ exitCode: 1, output: "1 failed" }) });
  expect(await host.callTool("run_tests")).toEqual({ content: [{ type: "text", text: "1 failed" }] });
});

test("without a terminal the agent reads what to do", async () => {
  const host = await hostOf({ agents: [{ ...shell, connected: false }] });
  expect(await host.callTool("run_tests")).toEqual({
    content: [{ type: "text", text: "Connect a terminal card to the Test radar card first." }],
    isError: true,
  });
});

test("nothing is sent when the agent has given up (cards.md 37)", async () => {
  let finish: (output: string) => void = () => undefined;
  const host = await hostOf({ agents: [shell], run: () => new Promise((done) => (finish = done)) });
  const called = host.callTool("run_tests");
  await expect.poll(() => host.calls.some(({ method }) => method === "terminals.run")).toBe(true);
  host.cancelTool(called.callId);
  await expect(called).rejects.toMatchObject({ code: "cancelled" });
  finish("too late");
  await expect.poll(() => host.logs.length).toBe(1);
  expect(host.logs[0]?.text).toContain("too late");
  expect(host.calls.some(({ method }) => method === "tools.respond")).toBe(false);
});

test("the tool is switched off and on (cards.md 66)", async () => {
  const host = await hostOf({});
  await import("./seed/switching.js");
  const switched = host.calls.filter(({ method }) => method === "tools.setEnabled").map(({ params }) => params);
  expect(switched).toEqual([
    { tool: "run_tests", enabled: false },
    { tool: "run_tests", enabled: true },
  ]);
});
