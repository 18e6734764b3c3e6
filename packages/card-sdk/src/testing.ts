/**
 * A host for tests, without a canvas: real cards over a real `MessageChannel`, in Node or a browser.
 *
 * It does what the host does with a call (checks its arguments, keeps its time, cancels it) and answers what a card
 * asks; `handle` puts other answers in their place.
 */

import { Card } from "./card.js";
import { CardSdkError } from "./errors.js";
import type { Answers, MockConfirm, MockLog, MockPeer, MockRun, MockState } from "./mock-answers.js";
import { answersOf } from "./mock-answers.js";
import type { MockManifest, MockTool } from "./mock-manifest.js";
import { MockTools, permitted } from "./mock-manifest.js";
import { MockSettings } from "./mock-settings.js";
import type { AgentRef, CancelCode, CardRef, Events, Fault, Json, Method, Params, Results } from "./protocol.js";
import type { ReadyParams, RespondParams, ToolResult } from "./protocol.js";
import { PROTOCOL } from "./protocol.js";

export type { MockConfirm, MockLog, MockPeer, MockRun } from "./mock-answers.js";
export type { MockManifest, MockTool } from "./mock-manifest.js";
export type { MockSetting } from "./mock-settings.js";

export interface MockHostOptions {
  readonly manifest: MockManifest;
  /** The agents and terminals of the workspace. */
  readonly agents?: readonly MockPeer[];
  /** The copies of the card; one, if it is not said. */
  readonly cards?: readonly CardRef[];
  /** What the user says to `card.ui.confirm`; yes, if it is not said. */
  readonly confirm?: MockConfirm;
  /** What commands give in `card.terminals.run`. */
  readonly run?: MockRun;
  /** What was kept before the card started. */
  readonly storage?: { readonly instance?: MockValues; readonly package?: MockValues };
  /** The permissions that the user gave; those of the manifest that are not optional, if it is not said. */
  readonly permissions?: readonly string[];
  readonly language?: string;
  /** What the user has set, secrets too; of the first copy, where it is not the package's. */
  readonly settings?: MockValues;
}

export type MockValues = { readonly [key: string]: Json };

export interface MockConnect {
  /** The card to connect instead of a new one, such as the `card` that the code to be tested imports. */
  readonly card?: Card;
}

export interface MockCallOptions {
  /** Who calls: a name, or both. */
  readonly agent?: string | AgentRef;
  /** Instead of the tool's own time, which is that of the manifest or 30,000. */
  readonly timeoutMs?: number;
  /** The copy, by its id; the first one if it is not said. */
  readonly card?: string;
}

/** A request that the card has made. */
export interface MockRequest {
  readonly method: Method;
  readonly params: Params[Method];
}

/** An event that the card was sent. */
export interface MockEvent {
  readonly event: keyof Events;
  readonly data: Events[keyof Events];
}

/** The result of a call, to be awaited; `callId` is there at once, for `cancelTool`. */
export type MockCall = Promise<ToolResult> & { readonly callId: string };

interface Open {
  readonly tool: MockTool;
  readonly card: string;
  readonly timer: ReturnType<typeof setTimeout>;
  readonly resolve: (result: ToolResult) => void;
  readonly reject: (error: CardSdkError) => void;
}

const USUAL_MS = 30_000;

/** A host for one package. */
export function createMockHost(options: MockHostOptions): MockHost {
  return new MockHost(options);
}

export class MockHost {
  /** All that the card has asked, the oldest first. */
  readonly calls: MockRequest[] = [];
  /** All events that the card was sent. */
  readonly events: MockEvent[] = [];
  /** The progress of calls, as it would show on the arrow. */
  readonly progress: Array<{ readonly callId: string; readonly message: string }> = [];
  /** The tools that the card has switched off. */
  readonly disabled = new Set<string>();
  readonly #options: MockHostOptions;
  readonly #tools: MockTools;
  readonly #state: MockState;
  readonly #usual: Answers;
  readonly #answers: Answers = {};
  readonly #open = new Map<string, Open>();
  #port: MessagePort | undefined;
  #ids = 0;

  constructor(options: MockHostOptions) {
    this.#options = options;
    this.#tools = new MockTools(options.manifest);
    const copies = options.cards ?? [{ id: "crd_mock", name: options.manifest.name }];
    const declared = options.manifest.settings ?? [];
    this.#state = {
      copies,
      settings: new MockSettings(declared, copies, (data) => this.#port && this.emit("settings.changed", data)),
      logs: [],
      written: [],
      storage: { instance: kept(options.storage?.instance), package: kept(options.storage?.package) },
      permissions: new Set(options.permissions ?? permitted(options.manifest)),
      agents: options.agents ?? [],
      confirm: options.confirm ?? true,
      run: options.run ?? (() => ""),
    };
    for (const [key, value] of Object.entries(options.settings ?? {})) this.setSetting(key, value);
    this.#usual = { ...answersOf(this.#state), ...this.#callAnswers() };
  }

  /** The card's log. What a handler throws is there as a warning, as in the real one. */
  get logs(): readonly MockLog[] {
    return this.#state.logs;
  }

  /** What is kept, by key. */
  get storage(): MockState["storage"] {
    return this.#state.storage;
  }

  /** What was typed into terminals. */
  get written(): MockState["written"] {
    return this.#state.written;
  }

  /** A real card that speaks with this host; the one before is cut off. */
  async connect(options: MockConnect = {}): Promise<Card> {
    this.close();
    const channel = new MessageChannel();
    const card = options.card ?? new Card();
    this.#port = channel.port1;
    this.#port.addEventListener("message", (event: MessageEvent) => void this.#take(event.data, channel.port1));
    this.#port.start();
    await card.attach(channel.port2, this.#state.copies.length === 1 ? this.#state.copies[0]?.id : undefined);
    return card;
  }

  /** End the connection, as at the end of a test; calls under way fail. */
  close(): void {
    this.#port?.close();
    this.#port = undefined;
    for (const callId of [...this.#open.keys()]) this.#fail(callId, "unavailable", "the host was closed");
  }

  /**
   * Call a tool as an agent would. Rejects with a `CardSdkError` where an agent is told of a failure that is not the
   * handler's own result: its arguments do not fit (`invalid_param`), there is no such tool (`tool_not_found`) or it is
   * switched off (`disabled`), its time is up (`deadline`), it was cancelled, or the handler has thrown (`card_error`).
   */
  callTool(name: string, args: object = {}, options: MockCallOptions = {}): MockCall {
    this.#ids += 1;
    const callId = `call_${this.#ids}`;
    const called = new Promise<ToolResult>((resolve, reject) => this.#start(callId, name, args, options, { resolve, reject }));
    return Object.assign(called, { callId });
  }

  /** The agent gives up, or whatever `code` says. */
  cancelTool(callId: string, code: CancelCode = "cancelled", reason = "the agent gave up"): void {
    if (!this.#open.has(callId)) return;
    this.#fail(callId, code, reason);
    this.emit("tools.cancel", { callId, code, reason });
  }

  /**
   * Answer a method in another way: with what `answer` gives, or refuse it with what `answer` throws, which may be a
   * `CardSdkError`. Returns what undoes it.
   */
  handle<M extends Method>(method: M, answer: (params: Params[M]) => Results[M] | Promise<Results[M]>): () => void {
    const before = this.#answers[method];
    this.#answers[method] = answer as never;
    return () => {
      this.#answers[method] = before as never;
    };
  }

  /** Send the card an event. */
  emit<E extends keyof Events>(event: E, data: Events[E]): void {
    this.events.push({ event, data });
    this.#port?.postMessage({ event, data });
  }

  /** Other agents and terminals from now on; the card is told. */
  setAgents(agents: readonly MockPeer[]): void {
    this.#state.agents = agents;
    for (const { id } of this.#state.copies) this.emit("agents.changed", { card: id });
  }

  /** What the user says from now on. */
  setConfirm(confirm: MockConfirm): void {
    this.#state.confirm = confirm;
  }

  /** The user sets something, a secret too; `null` puts it back to its default. The card is told. */
  setSetting(key: string, value: Json, card?: string): void {
    this.#state.settings.set(key, value, card ?? this.#state.copies[0]?.id);
  }

  #start(callId: string, name: string, args: object, options: MockCallOptions, ends: Pick<Open, "resolve" | "reject">): void {
    const tool = this.#tools.checked(name, args);
    const card = this.#state.copies.find((copy) => options.card === undefined || copy.id === options.card);
    if (card === undefined) throw new CardSdkError("card_not_found", `there is no copy ${JSON.stringify(options.card)}`);
    if (this.disabled.has(name)) throw new CardSdkError("disabled", `tool ${JSON.stringify(name)} is turned off`);
    if (this.#port === undefined) throw new CardSdkError("unavailable", "no card is connected; await host.connect() first");
    const remainingMs = options.timeoutMs ?? tool.timeoutMs ?? USUAL_MS;
    const late = (): void => this.cancelTool(callId, "deadline", `${name} timed out after ${remainingMs} ms`);
    this.#open.set(callId, { tool, card: card.id, timer: setTimeout(late, remainingMs), ...ends });
    this.emit("tools.call", {
      callId,
      tool: name,
      exposedName: `${this.#options.manifest.name.replaceAll("-", "_")}_${name}`,
      arguments: args as MockValues,
      agent: typeof options.agent === "object" ? options.agent : { id: "agt_mock", name: options.agent ?? "agent" },
      card,
      deadline: Date.now() + remainingMs,
      remainingMs,
    });
  }

  #fail(callId: string, code: string, message: string): void {
    const open = this.#open.get(callId);
    if (open === undefined) return;
    clearTimeout(open.timer);
    this.#open.delete(callId);
    open.reject(new CardSdkError(code, message));
  }

  #callAnswers(): Answers {
    return {
      "host.ready": (params) => this.#ready(params),
      "tools.respond": (params) => this.#respond(params),
      "tools.progress": ({ callId, message }) => {
        if (this.#open.has(callId)) this.progress.push({ callId, message });
        return {};
      },
      "tools.setEnabled": ({ tool, enabled }) => {
        if (!this.#tools.has(tool)) throw new CardSdkError("tool_not_found", `the manifest has no tool ${JSON.stringify(tool)}`);
        if (enabled) this.disabled.delete(tool);
        else this.disabled.add(tool);
        return {};
      },
    };
  }

  #ready(params: ReadyParams): Results["host.ready"] {
    if (params.protocol !== PROTOCOL) throw new CardSdkError("invalid_param", `this host speaks protocol ${PROTOCOL}`);
    return {
      protocol: PROTOCOL,
      package: this.#options.manifest.name,
      version: this.#options.manifest.version,
      cards: this.#state.copies,
      disabled: [...this.disabled],
      permissions: [...this.#state.permissions],
      language: this.#options.language ?? "en",
      settings: this.#state.settings.all(),
    };
  }

  #respond({ callId, result, error }: RespondParams): Results["tools.respond"] {
    const open = this.#open.get(callId);
    if (open === undefined) return {};
    if (result === undefined) {
      this.#state.logs.push({ level: "warn", text: error ?? "", card: open.card });
      this.#fail(callId, "card_error", error ?? "neither a result nor an error");
      return {};
    }
    clearTimeout(open.timer);
    this.#open.delete(callId);
    open.resolve(result);
    return {};
  }

  async #take(message: { readonly id: number } & MockRequest, port: MessagePort): Promise<void> {
    const { id, method, params } = message;
    this.calls.push({ method, params });
    const answer = (this.#answers[method] ?? this.#usual[method]) as ((params: unknown) => unknown) | undefined;
    try {
      if (answer === undefined) throw new CardSdkError("invalid_request", `there is no method ${JSON.stringify(method)}`);
      port.postMessage({ id, result: await answer(params) });
    } catch (error) {
      port.postMessage({ id, error: faultOf(error) });
    }
  }
}

function kept(values: MockValues | undefined): Map<string, Json> {
  return new Map(Object.entries(values ?? {}));
}

function faultOf(error: unknown): Fault {
  const { code = "internal_error", message = String(error), retryAfterMs } = error as Partial<CardSdkError>;
  return { code, message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}
