// @vitest-environment jsdom
/** A card in a frame: how it finds its page, and on whose behalf it asks where Node's help is missing. */

import type { Card } from "@toolwire/card-sdk";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { hostOf, asked } from "./hosts.js";
import { settle } from "./manifest.js";

let page: { postMessage: ReturnType<typeof vi.fn> };
let sdk: typeof import("@toolwire/card-sdk");

beforeEach(async () => {
  page = { postMessage: vi.fn() };
  Object.defineProperty(window, "parent", { value: page, configurable: true });
  vi.resetModules(); // a frame loads the package once; each test is a frame of its own
  sdk = await import("@toolwire/card-sdk");
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

interface Sent {
  readonly source?: unknown;
  readonly event?: string;
  readonly instance?: string;
  readonly refuses?: string;
}

/** A host at the other end of the port that the page sends to the frame. */
function post({ source = page, event = "card.connect", instance, refuses }: Sent = {}): { readonly ready: Promise<unknown> } {
  const channel = new MessageChannel();
  const message = new Event("message");
  const data = { event, data: { protocol: 1, ...(instance ? { instance } : {}) } };
  for (const [key, value] of Object.entries({ data, source, ports: [channel.port2] })) {
    Object.defineProperty(message, key, { value });
  }
  const ready = new Promise((resolve) => {
    channel.port1.onmessage = ({ data: { id, params } }) => {
      resolve(params);
      const result = { protocol: 1, package: "p", version: "1.0.0", cards: [] };
      channel.port1.postMessage({ id, ...(refuses ? { error: { code: "invalid_param", message: refuses } } : { result }) });
    };
  });
  window.dispatchEvent(message);
  return { ready };
}

test("the frame tells its page that it listens, and no more than that", () => {
  expect(page.postMessage.mock.calls).toEqual([[{ event: "card.hello", data: { protocol: 1 } }, "*"]]);
});

test("the page's port is taken, whether it comes before or after it is asked for", async () => {
  const first = post({ instance: "crd_1" });
  expect(await sdk.connect()).toBe(sdk.card);
  expect(await first.ready).toMatchObject({ protocol: 1, instance: "crd_1" });
  vi.resetModules();
  const another = await import("@toolwire/card-sdk");
  const connecting = another.connect();
  await settle();
  post();
  expect((await connecting).context?.package).toBe("p");
});

test("a handler is enough to connect the frame", async () => {
  sdk.card.tools.handle("run_tests", () => "ran");
  expect(await post().ready).toMatchObject({ protocol: 1 });
});

test("messages of others, and other messages of the page, are not taken", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const connecting = expect(sdk.connect({ timeoutMs: 100 })).rejects.toMatchObject({ code: "unavailable" });
  post({ source: window });
  post({ source: null });
  post({ event: "else" });
  await vi.advanceTimersByTimeAsync(100);
  await connecting;
});

test("a page that connects again replaces what was before, and handlers stay", async () => {
  await Promise.all([sdk.connect(), post().ready]);
  const again = post({ instance: "crd_2" });
  expect(await again.ready).toMatchObject({ instance: "crd_2" });
  expect((await sdk.connect()).context?.package).toBe("p");
});

test("a host that refuses the card is heard of in the page's console, and by whoever asks", async () => {
  const told = vi.spyOn(console, "error").mockImplementation(() => undefined);
  sdk.card.tools.handle("run_tests", () => "ran");
  post({ refuses: "this host speaks protocol 2" });
  await expect(sdk.card.agents.list()).rejects.toThrow("protocol 2");
  expect(told).toHaveBeenCalledWith("the host refuses this card: this host speaks protocol 2");
});

/** A card as in a browser, which cannot follow a call through what its handler awaits. */
async function cardOfABrowser(): Promise<[ReturnType<typeof hostOf>, Card]> {
  vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined as never);
  const host = hostOf();
  const card = await host.connect({ card: new sdk.Card() });
  return [host, card];
}

test("in a browser a question of the only call under way is that call's", async () => {
  const [host, card] = await cardOfABrowser();
  card.tools.handle("run_tests", async () => {
    await settle();
    await card.ui.confirm("delete?");
  });
  const called = host.callTool("run_tests");
  await called;
  await card.ui.confirm("after it");
  expect(asked(host, "ui.confirm")).toMatchObject([{ callId: called.callId }, { title: "after it" }]);
  expect(asked(host, "ui.confirm")[1]).not.toHaveProperty("callId");
});

test("in a browser a question is nobody's call where that cannot be told, unless it says whose", async () => {
  const [host, card] = await cardOfABrowser();
  card.tools.handle<{ filter: string }>("run_tests", async ({ filter }, call) => {
    await settle();
    await card.ui.confirm(filter === "says" ? { title: filter, call } : filter);
  });
  const [mute, says] = [host.callTool("run_tests", { filter: "mute" }), host.callTool("run_tests", { filter: "says" })];
  await Promise.all([mute, says]);
  const questions = asked(host, "ui.confirm") as ReadonlyArray<{ title: string; callId?: string }>;
  expect(questions.map(({ title, callId }) => [title, callId])).toEqual(
    expect.arrayContaining([["mute", undefined], ["says", says.callId]]),
  );
});

test("in a browser a question that follows a click is not taken for that of a call", async () => {
  const [host, card] = await cardOfABrowser();
  vi.stubGlobal("navigator", { userActivation: { isActive: true } });
  card.tools.handle("run_tests", () => new Promise<void>(() => undefined));
  host.callTool("run_tests").catch(() => undefined);
  await settle();
  await card.ui.confirm("clear all?");
  expect(asked(host, "ui.confirm")).toEqual([{ title: "clear all?", card: "crd_mock" }]);
});
