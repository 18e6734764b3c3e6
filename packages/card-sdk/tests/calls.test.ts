/** Calls and their handlers: what they see, how they end, what is not sent (cards.md 28-39, 50-59; decisions 22-27). */

import type { ToolCall } from "@toolwire/card-sdk";
import { CallCancelled, isCardSdkError, toolText } from "@toolwire/card-sdk";
import { afterEach, expect, test, vi } from "vitest";
import { asked, connected, textOf } from "./hosts.js";
import { settle } from "./manifest.js";

afterEach(() => {
  vi.useRealTimers();
});

test("a handler gets the arguments and the call (cards.md 28-33, decision 41)", async () => {
  const [host, card] = await connected();
  let seen: ToolCall | undefined;
  card.tools.handle<{ filter?: string }>("run_tests", ({ filter }, call) => {
    seen = call;
    return `ran ${filter}`;
  });
  const called = host.callTool("run_tests", { filter: "a" }, { agent: { id: "agt_1", name: "claude" } });
  expect(await textOf(called)).toBe("ran a");
  expect(seen).toMatchObject({
    callId: called.callId,
    tool: "run_tests",
    exposedName: "test_radar_run_tests",
    agent: { id: "agt_1", name: "claude" },
    card: { id: "crd_mock", name: "test-radar" },
  });
  expect(seen?.deadline).toBeGreaterThan(Date.now() + 100_000);
  expect(seen?.signal.aborted).toBe(false);
});

test("the deadline is what is left by this machine's clock, whatever the host's says (decision 22)", async () => {
  const [host, card] = await connected();
  let deadline = 0;
  card.tools.handle("run_tests", (_, call) => void (deadline = call.deadline));
  const called = host.callTool("run_tests");
  await called;
  const data = { callId: "old", tool: "run_tests", exposedName: "x", arguments: {}, agent: { id: "a", name: "a" } };
  host.emit("tools.call", { ...data, card: { id: "crd_mock", name: "c" }, deadline: 1000, remainingMs: 60_000 });
  await settle();
  expect(Math.abs(deadline - Date.now() - 60_000)).toBeLessThan(5_000);
});

test("several calls are answered at once, each its own (cards.md 38)", async () => {
  const [host, card] = await connected();
  const waiting = new Map<string, (text: string) => void>();
  card.tools.handle<{ filter: string }>("run_tests", ({ filter }) => new Promise((done) => waiting.set(filter, done)));
  const [a, b] = [host.callTool("run_tests", { filter: "a" }), host.callTool("run_tests", { filter: "b" })];
  await settle();
  waiting.get("b")?.("second");
  expect(await textOf(b)).toBe("second");
  waiting.get("a")?.("first");
  expect(await textOf(a)).toBe("first");
});

test("a second handler of a tool is refused, until the first is unregistered (cards.md 39)", async () => {
  const [host, card] = await connected();
  const unregister = card.tools.handle("run_tests", () => "one");
  expect(() => card.tools.handle("run_tests", () => "two")).toThrow("has a handler already");
  unregister();
  card.tools.handle("run_tests", () => "two");
  unregister(); // the second time it does nothing
  expect(await textOf(host.callTool("run_tests"))).toBe("two");
});

test("a call that comes before its handler waits for it (cards.md 59)", async () => {
  const [host, card] = await connected();
  const called = host.callTool("run_tests");
  await settle();
  card.tools.handle("run_tests", () => "at last");
  expect(await textOf(called)).toBe("at last");
});

test("a call that nobody handles waits until its deadline (cards.md 55, 59)", async () => {
  const [host] = await connected();
  const called = host.callTool("run_tests", {}, { timeoutMs: 30 });
  await expect(called).rejects.toMatchObject({ code: "deadline" });
  await settle();
  expect(asked(host, "tools.respond")).toEqual([]);
});

test("a call waits five seconds for a handler that was taken away (decision 23)", async () => {
  const [host, card] = await connected();
  card.tools.handle("run_tests", () => "one")();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const called = host.callTool("run_tests");
  const told = expect(called).rejects.toThrow('the card has no handler for "run_tests" any more');
  await settle();
  await vi.advanceTimersByTimeAsync(4_990);
  await settle();
  expect(asked(host, "tools.respond")).toEqual([]);
  await vi.advanceTimersByTimeAsync(20);
  vi.useRealTimers();
  await told;
});

test("a handler that comes back in time answers what has waited (decision 23)", async () => {
  const [host, card] = await connected();
  card.tools.handle("run_tests", () => "one")();
  const called = host.callTool("run_tests");
  await settle();
  card.tools.handle("run_tests", () => "two");
  expect(await textOf(called)).toBe("two");
});

test.each(["cancelled", "disconnected", "disabled", "unloaded"] as const)(
  "the signal aborts when the call is %s, with the reason's code, and nothing is sent (cards.md 34, 37; decision 25)",
  async (code) => {
    const [host, card] = await connected();
    const aborted = new Promise<unknown>((resolve) => {
      card.tools.handle("run_tests", (_, { signal }) => {
        return new Promise((_done, reject) => {
          signal.addEventListener("abort", () => {
            resolve(signal.reason);
            reject(signal.reason as Error);
          });
        });
      });
    });
    const called = host.callTool("run_tests");
    await settle();
    host.cancelTool(called.callId, code, "because");
    await expect(called).rejects.toMatchObject({ code });
    const reason = await aborted;
    expect(reason).toBeInstanceOf(CallCancelled);
    expect(reason).toMatchObject({ code, message: "because", name: "AbortError" });
    expect(isCardSdkError(reason, code)).toBe(true);
    await settle();
    expect(asked(host, "tools.respond")).toEqual([]);
    expect(host.logs).toEqual([]);
  },
);

test("the signal aborts at the deadline by the card's own timer, without a word of the host (cards.md 34)", async () => {
  const [host, card] = await connected();
  let reason: unknown;
  card.tools.handle("run_tests", (_, { signal }) => {
    return new Promise<void>((done) => {
      signal.addEventListener("abort", () => {
        reason = signal.reason;
        done();
      });
    });
  });
  const agent = { id: "a", name: "a" };
  const data = { callId: "mute", tool: "run_tests", exposedName: "x", arguments: {}, agent, card: agent };
  host.emit("tools.call", { ...data, deadline: Date.now() + 20, remainingMs: 20 });
  await expect.poll(() => reason).toMatchObject({ code: "deadline" });
  await settle();
  expect(asked(host, "tools.respond")).toEqual([]);
});

test("a late result is dropped, and the log says how late it was (cards.md 57, decision 26)", async () => {
  const [host, card] = await connected();
  let finish: (text: string) => void = () => undefined;
  card.tools.handle("run_tests", () => new Promise((done) => (finish = done)));
  const called = host.callTool("run_tests", {}, { timeoutMs: 20 });
  await expect(called).rejects.toMatchObject({ code: "deadline" });
  await settle();
  finish("late");
  await expect.poll(() => host.logs).toHaveLength(1);
  expect(host.logs[0]).toMatchObject({ level: "debug", card: "crd_mock" });
  expect(host.logs[0]?.text).toMatch(/^a result of run_tests came \d+ ms too late/);
  expect(asked(host, "tools.respond")).toEqual([]);
});

test.each([
  ["an error", () => { throw new Error("the repository is gone"); }, "the repository is gone"],
  ["a rejection", () => Promise.reject(new TypeError("not ready")), "not ready"],
  ["a string", () => { throw "words"; }, "words"],
  ["an object", () => { throw { why: 1 }; }, '{"why":1}'],
  ["nothing", () => { throw undefined; }, "undefined"],
  ["an error without words", () => { throw new RangeError(); }, "RangeError"],
  ["several errors", () => Promise.any([Promise.reject(new Error("a")), Promise.reject(new Error("b"))]), "a; b"],
] as const)("%s that is thrown reaches the agent in words, and the log as a warning (cards.md 50, 51)", async (_, handler, words) => {
  const [host, card] = await connected();
  card.tools.handle("run_tests", handler);
  await expect(host.callTool("run_tests")).rejects.toMatchObject({ code: "card_error", message: words });
  expect(host.logs[0]).toEqual({ level: "warn", text: words, card: "crd_mock" });
});

test("an error's words are cut at 4,000 characters, and its stack goes to the log alone (decision 32)", async () => {
  const [host, card] = await connected();
  card.tools.handle("run_tests", () => {
    throw new Error("x".repeat(5_000));
  });
  await host.callTool("run_tests").catch(() => undefined);
  expect(asked(host, "tools.respond")).toEqual([{ callId: "call_1", error: `${"x".repeat(3_999)}…` }]);
  await expect.poll(() => host.logs).toHaveLength(2);
  card.tools.handle("read_scratchpad", () => {
    throw new Error("short");
  });
  await host.callTool("read_scratchpad").catch(() => undefined);
  await expect.poll(() => host.logs).toHaveLength(4);
  expect(host.logs[3]).toMatchObject({ level: "warn", text: expect.stringContaining("calls.test") });
  expect(JSON.stringify(asked(host, "tools.respond"))).not.toContain("calls.test");
});

test("progress goes out at once, then the latest every 250 ms, then the rest before the result (cards.md 35, 36; decision 27)", async () => {
  const [host, card] = await connected();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let call: ToolCall | undefined;
  let finish: (text: string) => void = () => undefined;
  card.tools.handle("run_tests", (_, given) => {
    call = given;
    return new Promise((done) => (finish = done));
  });
  const called = host.callTool("run_tests");
  await settle();
  const heard = () => host.progress.map(({ message }) => message);
  for (const step of ["1", "2", "3"]) call?.progress(step);
  await settle();
  expect(heard()).toEqual(["1"]);
  await vi.advanceTimersByTimeAsync(249);
  await settle();
  expect(heard()).toEqual(["1"]);
  await vi.advanceTimersByTimeAsync(1);
  await settle();
  expect(heard()).toEqual(["1", "3"]);
  await vi.advanceTimersByTimeAsync(1_000);
  call?.progress("4");
  call?.progress("5");
  finish("done");
  expect(await textOf(called)).toBe("done");
  call?.progress("6");
  await vi.advanceTimersByTimeAsync(1_000);
  vi.useRealTimers();
  await settle();
  expect(heard()).toEqual(["1", "3", "4", "5"]);
  const order = host.calls.map(({ method }) => method).filter((method) => method.startsWith("tools."));
  expect(order).toEqual([...Array<string>(4).fill("tools.progress"), "tools.respond"]);
});

test("a progress message is one line of 200 characters, and an empty one is none (decision 28)", async () => {
  const [host, card] = await connected();
  card.tools.handle("run_tests", (_, { progress }) => {
    progress("  \n ");
    progress(`line\r\ntwo ${"🦊".repeat(300)}`);
  });
  await host.callTool("run_tests");
  expect(host.progress.map(({ message }) => message)).toEqual([`line two ${"🦊".repeat(190)}…`]);
});

test("halves of characters do not break the connection", async () => {
  const [host, card] = await connected();
  card.tools.handle("run_tests", () => toolText("half \ud83e and \\ud83e"));
  expect(await textOf(host.callTool("run_tests"))).toBe("half \ufffd and \\ud83e");
});

test("two hundred calls at once are all answered (cards.md 38)", async () => {
  const [host, card] = await connected();
  card.tools.handle<{ filter: string }>("run_tests", async ({ filter }, { progress }) => {
    progress(filter);
    await settle();
    return filter;
  });
  const calls = Array.from({ length: 200 }, (_, at) => textOf(host.callTool("run_tests", { filter: String(at) })));
  expect(await Promise.all(calls)).toEqual(Array.from({ length: 200 }, (_, at) => String(at)));
});

test("a flood of progress costs a message every 250 ms (decision 27)", async () => {
  const [host, card] = await connected();
  card.tools.handle("run_tests", (_, { progress }) => {
    for (let step = 0; step < 10_000; step += 1) progress(`step ${step}`);
  });
  await host.callTool("run_tests");
  expect(host.progress.map(({ message }) => message)).toEqual(["step 0", "step 9999"]);
});

test("what cannot be read does no harm", async () => {
  const [host, card] = await connected();
  const warned = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  card.tools.handle("run_tests", () => "ran");
  for (const [event, data] of [["tools.call", undefined], ["tools.cancel", null], ["cards.changed", 3], ["new.one", {}]]) {
    host.emit(event as never, data as never);
  }
  expect(await textOf(host.callTool("run_tests"))).toBe("ran");
  expect(warned.mock.calls.length).toBe(3);
  expect(card.copies).toHaveLength(1);
});

test("the host waits as long as the manifest says, else for 30 s (cards.md 53, 54)", async () => {
  const [host, card] = await connected();
  card.tools.handle("run_tests", () => "ran");
  card.tools.handle("read_scratchpad", () => "read");
  await Promise.all([host.callTool("run_tests"), host.callTool("read_scratchpad")]);
  expect(host.events.map(({ data }) => (data as { remainingMs: number }).remainingMs)).toEqual([120_000, 30_000]);
});
