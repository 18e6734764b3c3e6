/** What a card asks of its host (cards.md 66-68, 72-75), and on whose behalf. */

import { CardSdkError, connect, isCardSdkError } from "@toolwire/card-sdk";
import { createMockHost } from "@toolwire/card-sdk/testing";
import { expect, test } from "vitest";
import { asked, connected, hostOf, textOf } from "./hosts.js";
import { manifest, settle } from "./manifest.js";

const shell = { id: "trm_1", name: "shell", kind: "shell" } as const;

test("the context and the copies are there once the card is connected", async () => {
  const [host, card] = await connected({ language: "zh" });
  expect(card.context).toEqual({
    package: "test-radar",
    version: "1.0.0",
    permissions: ["agents.read", "terminals.write"],
    disabled: [],
    language: "zh",
  });
  expect(card.copies).toEqual([{ id: "crd_mock", name: "test-radar" }]);
  const heard: unknown[] = [];
  const stop = card.onCopiesChanged((copies) => heard.push(copies));
  host.emit("cards.changed", { cards: [] });
  await settle();
  stop();
  host.emit("cards.changed", { cards: [{ id: "crd_2", name: "b" }] });
  await settle();
  expect(heard).toEqual([[]]);
  expect(card.copies).toEqual([{ id: "crd_2", name: "b" }]);
});

test("a tool is switched off and on again (cards.md 66)", async () => {
  const [host, card] = await connected();
  card.tools.handle("run_tests", () => "ran");
  await card.tools.setEnabled("run_tests", false);
  await expect(host.callTool("run_tests")).rejects.toMatchObject({ code: "disabled" });
  await card.tools.setEnabled("run_tests", true);
  expect(await textOf(host.callTool("run_tests"))).toBe("ran");
  await expect(card.tools.setEnabled("no_such", true)).rejects.toMatchObject({ code: "tool_not_found" });
});

test("agents and terminals are listed, and changes are heard of (cards.md 72)", async () => {
  const [host, card] = await connected({ agents: [shell, { id: "agt_1", name: "claude", connected: false }] });
  expect(await card.agents.list()).toEqual([
    { ...shell, status: "idle", connected: true },
    { id: "agt_1", name: "claude", kind: "ai", status: "idle", connected: false },
  ]);
  const heard: string[] = [];
  const stop = card.agents.onChanged((copy) => heard.push(copy));
  host.setAgents([]);
  await settle();
  stop();
  host.setAgents([shell]);
  await settle();
  expect(heard).toEqual(["crd_mock"]);
});

test("a command runs in a connected terminal, and what the wire leaves out is filled in (cards.md 73)", async () => {
  const [host, card] = await connected({ agents: [shell], run: ({ command }) => `$ ${command}` });
  expect(await card.terminals.run("trm_1", "ls", { timeoutMs: 5_000 })).toEqual({
    exitCode: 0,
    output: "$ ls",
    truncated: false,
    timedOut: false,
  });
  expect(asked(host, "terminals.run")).toEqual([{ terminal: "trm_1", command: "ls", timeoutMs: 5000, card: "crd_mock" }]);
  await card.terminals.write("trm_1", "y\n");
  expect(host.written).toEqual([{ terminal: "trm_1", data: "y\n" }]);
});

test("refusals are typed: no arrow, no permission, words of the host", async () => {
  const [, card] = await connected({ agents: [{ ...shell, connected: false }] });
  await expect(card.terminals.run("trm_1", "ls")).rejects.toMatchObject({ code: "not_connected" });
  const [host, poor] = await connected({ permissions: [] });
  await expect(poor.agents.list()).rejects.toMatchObject({ code: "permission_denied" });
  host.handle("storage.set", () => {
    throw new CardSdkError("rate_limited", "slower", 250);
  });
  const refused = await poor.storage.set("a", 1).catch((error: unknown) => error);
  expect(isCardSdkError(refused)).toBe(true);
  expect(isCardSdkError(refused, "rate_limited")).toBe(true);
  expect(isCardSdkError(refused, "not_connected")).toBe(false);
  expect(refused).toMatchObject({ name: "CardSdkError", message: "slower", retryAfterMs: 250 });
  expect(isCardSdkError(new Error("else"))).toBe(false);
  expect(isCardSdkError("rate_limited")).toBe(false);
});

test("the user is asked, and a question inside a call names it (cards.md 75, decision 35)", async () => {
  const [host, card] = await connected({ confirm: ({ title }) => title === "Really?" });
  expect(await card.ui.confirm("Really?")).toBe(true);
  expect(await card.ui.confirm({ title: "Sure?", message: "All of it", tone: "danger" })).toBe(false);
  card.tools.handle("run_tests", async () => {
    await settle();
    return String(await card.ui.confirm({ title: "Really?", confirmLabel: "Yes", cancelLabel: undefined }));
  });
  const called = host.callTool("run_tests");
  expect(await textOf(called)).toBe("true");
  expect(asked(host, "ui.confirm")).toEqual([
    { title: "Really?", card: "crd_mock" },
    { title: "Sure?", message: "All of it", tone: "danger", card: "crd_mock" },
    { title: "Really?", confirmLabel: "Yes", card: "crd_mock", callId: called.callId },
  ]);
});

test("in Node what a handler asks is about its own call and copy, however many are under way", async () => {
  const cards = [{ id: "crd_a", name: "a" }, { id: "crd_b", name: "b" }];
  const [host, card] = await connected({ cards, agents: [shell] });
  card.tools.handle("run_tests", async () => {
    await settle();
    await card.storage.set("k", 1);
    await card.terminals.run("trm_1", "ls");
    await card.storage.package.set("p", 2);
    return "ran";
  });
  const a = host.callTool("run_tests", {}, { card: "crd_a" });
  const b = host.callTool("run_tests", {}, { card: "crd_b" });
  await Promise.all([a, b]);
  expect(asked(host, "storage.set")).toEqual(
    expect.arrayContaining([
      { key: "k", value: 1, card: "crd_a" },
      { key: "k", value: 1, card: "crd_b" },
      { key: "p", value: 2, scope: "package" },
    ]),
  );
  expect(asked(host, "terminals.run")).toEqual(
    expect.arrayContaining([
      { terminal: "trm_1", command: "ls", card: "crd_a", callId: a.callId },
      { terminal: "trm_1", command: "ls", card: "crd_b", callId: b.callId },
    ]),
  );
  await card.storage.get("k"); // outside of a call, of several copies, it is for the host to say which is meant
  await card.storage.get("k", { card: "crd_b" });
  expect(asked(host, "storage.get")).toEqual([{ key: "k" }, { key: "k", card: "crd_b" }]);
});

test("values are kept for the copy and for the package", async () => {
  const [host, card] = await connected({ storage: { instance: { old: [1] } } });
  expect(await card.storage.get("old")).toEqual([1]);
  expect(await card.storage.get("none")).toBeUndefined();
  await card.storage.set("null", null);
  expect(await card.storage.get("null")).toBeNull();
  await card.storage.package.set("shared", { a: 1 });
  expect(await card.storage.package.get<{ a: number }>("shared")).toEqual({ a: 1 });
  expect(await card.storage.keys()).toEqual(["null", "old"]);
  await card.storage.delete("old");
  await card.storage.clear();
  expect(await card.storage.keys()).toEqual([]);
  expect(await card.storage.package.keys()).toEqual(["shared"]);
  expect(host.storage.package.get("shared")).toEqual({ a: 1 });
  await expect(card.storage.set("a", undefined)).rejects.toMatchObject({ code: "invalid_param" });
});

test("a value that no message can carry is refused here, and the connection goes on", async () => {
  const [, card] = await connected();
  const deep: unknown = JSON.parse(`${"[".repeat(200)}${"]".repeat(200)}`);
  await expect(card.storage.set("deep", deep)).rejects.toMatchObject({ code: "invalid_param" });
  await expect(card.storage.set("big", "x".repeat(5_000_000))).rejects.toMatchObject({ code: "payload_too_large" });
  await expect(card.storage.set("big", 1n)).rejects.toThrow("BigInt");
  await card.storage.set("\ud800key", { "\udc00": "\ud800" });
  expect(await card.storage.keys()).toEqual(["\ufffdkey"]);
});

test("lines are logged at their level, and nobody must wait for them", async () => {
  const [host, card] = await connected();
  void card.log.debug("d");
  void card.log.info("i");
  void card.log.warn("w");
  await card.log.error("x".repeat(3_000), { card: "crd_mock" });
  expect(host.logs.map(({ level, text }) => [level, text.length])).toEqual([
    ["debug", 1],
    ["info", 1],
    ["warn", 1],
    ["error", 2_000],
  ]);
});

test("without a host there is a typed refusal that says what to do", async () => {
  await expect(connect()).rejects.toMatchObject({ code: "unavailable", message: expect.stringContaining("createMockHost") });
});

test("a card speaks over a port that it is given", async () => {
  const channel = new MessageChannel();
  channel.port1.onmessage = ({ data }) => {
    const { id, params } = data as { id: number; params: unknown };
    expect(params).toEqual({ protocol: 1, sdk: expect.stringMatching(/^toolwire-card-sdk/), instance: "crd_7" });
    channel.port1.postMessage({ id, result: { protocol: 1, package: "p", version: "1.0.0", cards: [] } });
  };
  const card = await connect({ port: channel.port2, instance: "crd_7" });
  expect(card.context).toMatchObject({ package: "p", permissions: [], language: "en" });
  card.close();
  await expect(card.agents.list()).rejects.toMatchObject({ code: "unavailable" });
});

test("a card answers its page, which wants to know whether it is stuck", async () => {
  const channel = new MessageChannel();
  const answered = new Promise((resolve) => {
    channel.port1.onmessage = ({ data }) => {
      if (data.method !== "host.ready") return resolve(data);
      channel.port1.postMessage({ id: data.id, result: { protocol: 1, package: "p", version: "1.0.0", cards: [] } });
    };
  });
  const card = await connect({ port: channel.port2 });
  channel.port1.postMessage({ event: "host.ping", data: {} });
  expect(await answered).toEqual({ event: "card.pong", data: {} });
  card.close();
});

test("what is asked before the host has answered host.ready waits for that, and fails if it refuses", async () => {
  const host = hostOf();
  host.handle("host.ready", () => {
    throw new CardSdkError("invalid_param", "this host speaks protocol 2");
  });
  await expect(host.connect()).rejects.toThrow("protocol 2");
});

test("requests and calls under way end when the host is gone", async () => {
  const [host, card] = await connected();
  let reason: unknown;
  card.tools.handle("run_tests", (_, { signal }) => {
    return new Promise<void>(() => signal.addEventListener("abort", () => (reason = signal.reason)));
  });
  host.handle("ui.confirm", () => new Promise(() => undefined));
  const called = expect(host.callTool("run_tests")).rejects.toMatchObject({ code: "unavailable" });
  const confirmed = expect(card.ui.confirm("?")).rejects.toMatchObject({ code: "unavailable" });
  await settle();
  host.close();
  await Promise.all([called, confirmed]);
  await expect.poll(() => reason).toMatchObject({ code: "unloaded" });
});

test("the mock host looks at tools and arguments as the real one does (cards.md 10, 11)", async () => {
  const [host, card] = await connected();
  card.tools.handle("run_tests", () => "ran");
  await expect(host.callTool("no_such")).rejects.toMatchObject({ code: "tool_not_found" });
  await expect(host.callTool("run_tests", { filter: 3 })).rejects.toMatchObject({
    code: "invalid_param",
    message: "the arguments of run_tests do not fit its inputSchema: /filter must be string",
  });
  await expect(host.callTool("run_tests", {}, { card: "crd_9" })).rejects.toMatchObject({ code: "card_not_found" });
  expect(host.events).toEqual([]);
  await expect(createMockHost({ manifest }).callTool("run_tests")).rejects.toMatchObject({ code: "unavailable" });
  const closed = { name: "read_scratchpad", inputSchema: { type: "object", properties: {}, additionalProperties: false } };
  const [strict] = await connected({ manifest: { ...manifest, tools: [closed] } });
  await expect(strict.callTool("read_scratchpad", { card: 1 })).rejects.toThrow("must NOT have additional properties (card)");
});

test("an answer that a test puts in place of the usual one goes away again", async () => {
  const [host, card] = await connected({ agents: [shell] });
  const undo = host.handle("agents.list", () => ({ agents: [] }));
  expect(await card.agents.list()).toEqual([]);
  undo();
  expect(await card.agents.list()).toHaveLength(1);
});

test("arguments are looked at by the words of public manifests (cards.md §2)", async () => {
  const inputSchema = {
    type: "object",
    additionalProperties: false,
    required: ["id", "status"],
    properties: {
      id: { type: "string", minLength: 1, maxLength: 16 },
      status: { enum: ["proposed", "accepted"] },
      day: { type: "string", format: "date" },
      parent: { $ref: "#/$defs/parent" },
    },
    $defs: { parent: { type: "object", properties: { color: { type: "string", format: "color" } } } },
  };
  const [host, card] = await connected({ manifest: { ...manifest, tools: [{ name: "set_status", inputSchema }] } });
  card.tools.handle("set_status", () => undefined);
  expect(await textOf(host.callTool("set_status", { id: "1", status: "accepted", day: "2026-11-30" }))).toBe("OK");
  for (const [more, words] of [
    [{ status: "else" }, "/status must be equal to one of the allowed values"],
    [{ day: "30 Nov" }, '/day must match format "date"'],
    [{ parent: { color: "red" } }, '/parent/color must match format "color"'],
    [{ id: "" }, "/id must NOT have fewer than 1 characters"],
  ] as const) {
    await expect(host.callTool("set_status", { id: "1", ...{ status: "accepted" }, ...more })).rejects.toThrow(words);
  }
});
