/** `Card`: what the author of a card writes with; what goes over the wire is the session's business. */

import type { ToolCall } from "./call.js";
import { CardSdkError } from "./errors.js";
import type { AnyArguments, ToolHandler } from "./handlers.js";
import { Handlers } from "./handlers.js";
import type { CardRef, Json, LogLevel, Method, Params, Peer, Results } from "./protocol.js";
import { MAX_LOG_CHARS } from "./protocol.js";
import { CallScope } from "./scope.js";
import type { Listener } from "./session.js";
import { Session } from "./session.js";
import { KnownSettings, Settings } from "./settings.js";
import { cut } from "./texts.js";

/** What the host has told of the card's package. */
export interface CardContext {
  readonly package: string;
  readonly version: string;
  readonly permissions: readonly string[];
  /** The tools that are switched off. */
  readonly disabled: readonly string[];
  readonly language: string;
}

/** Which copy a request is about, and for which call it is made; both are found by themselves where that can be. */
export interface About {
  readonly card?: string | undefined;
  readonly call?: ToolCall | undefined;
}

/** What became of a command; `exitCode` is `null` when it was still running at its time-out. */
export interface Ran {
  readonly exitCode: number | null;
  readonly output: string;
  readonly truncated: boolean;
  readonly timedOut: boolean;
}

export interface RunOptions extends About {
  /** How long to wait, from 1,000 to 120,000; 30,000 if it is not said. Choose less than the tool's own time. */
  readonly timeoutMs?: number | undefined;
}

export interface ConfirmOptions extends About {
  readonly title: string;
  readonly message?: string | undefined;
  readonly confirmLabel?: string | undefined;
  readonly cancelLabel?: string | undefined;
  readonly tone?: "neutral" | "danger" | undefined;
}

type Scope = "instance" | "package";

/** A card of one package, with the copies that its connection is for. */
export class Card {
  readonly #handlers = new Handlers();
  readonly #scope = new CallScope();
  readonly #reach: (() => Promise<unknown>) | undefined;
  readonly #copiesListeners = new Set<(copies: readonly CardRef[]) => void>();
  readonly #peersListeners = new Set<(card: string) => void>();
  readonly #settings = new KnownSettings();
  #session: Session | undefined;
  #ready: Promise<Session> | undefined;
  #context: CardContext | undefined;
  #copies: readonly CardRef[] = [];

  /** What agents may call. */
  readonly tools: Tools;
  /** The agents and terminals of the card's workspace. */
  readonly agents: Agents;
  /** Runs commands in connected terminals. */
  readonly terminals: Terminals;
  /** Asks the user. */
  readonly ui: Ui;
  /** JSON values kept for one copy; `storage.package` is shared by all. */
  readonly storage: Storage & { readonly package: Storage };
  /** What the user has set for it. */
  readonly settings: Settings;
  /** The card's log, which its user can read. */
  readonly log: Log;

  /** @param reach finds the host once it is needed; without it, `attach` is called by someone. */
  constructor(reach?: () => Promise<unknown>) {
    this.#reach = reach;
    this.tools = new Tools(this, (tool, handler) => {
      const unregister = this.#handlers.put(tool, handler);
      if (this.#ready === undefined) this.#reach?.().catch(() => undefined); // requests say what is wrong
      return unregister;
    });
    this.agents = new Agents(this, this.#peersListeners);
    this.terminals = new Terminals(this);
    this.ui = new Ui(this);
    this.storage = Object.assign(new Storage(this, "instance"), { package: new Storage(this, "package") });
    this.settings = new Settings(this, this.#settings);
    this.log = new Log(this);
  }

  /** What the host has told; nothing before the card is connected. */
  get context(): CardContext | undefined {
    return this.#context;
  }

  /** The copies on boards that this connection is for. */
  get copies(): readonly CardRef[] {
    return this.#copies;
  }

  /** Hear of copies that come and go; returns what ends that. */
  onCopiesChanged(listener: (copies: readonly CardRef[]) => void): () => void {
    this.#copiesListeners.add(listener);
    return () => this.#copiesListeners.delete(listener);
  }

  /**
   * Speak with the host over a port from now on; an older connection is given up, handlers stay.
   *
   * @param instance the copy that a frame is for.
   */
  async attach(port: MessagePort, instance?: string): Promise<void> {
    this.#session?.close("another connection took its place");
    const session = new Session(port, this.#handlers, this.#scope, this.#listener());
    this.#session = session;
    this.#ready = session.ready(instance).then((ready) => {
      if (this.#session !== session) return session;
      this.#context = {
        package: ready.package,
        version: ready.version,
        permissions: ready.permissions ?? [],
        disabled: ready.disabled ?? [],
        language: ready.language ?? "en",
      };
      this.#copies = ready.cards;
      this.#settings.begin(ready.settings ?? []);
      return session;
    });
    await this.#ready;
  }

  /** Give up the connection; calls under way are cancelled, requests are refused. */
  close(): void {
    this.#session?.close("the card has closed its connection");
  }

  /** Ask the host, once connected. Rejects with a `CardSdkError` if it refuses. */
  async request<M extends Method>(method: M, params: Params[M]): Promise<Results[M]> {
    if (this.#ready === undefined) await this.#reach?.();
    if (this.#ready === undefined) throw new CardSdkError("unavailable", "this card is not connected to a host");
    return (await this.#ready).request(method, params);
  }

  /** Fills in the copy and the call that a request is about. */
  about(options: About): { card?: string; callId?: string } {
    const call = options.call ?? this.#scope.current();
    const card = this.copyOf(options);
    return { ...(card === undefined ? {} : { card }), ...(call === undefined ? {} : { callId: call.callId }) };
  }

  /** The copy named, else that of the call, else the only one. */
  copyOf(options: About): string | undefined {
    const named = options.card ?? options.call?.card.id ?? this.#scope.copy();
    return named ?? (this.#copies.length === 1 ? this.#copies[0]?.id : undefined);
  }

  #listener(): Listener {
    return {
      cardsChanged: ({ cards }) => {
        this.#copies = [...cards];
        this.#settings.keep(new Set(cards.map(({ id }) => id)));
        for (const listener of [...this.#copiesListeners]) listener(cards);
      },
      settingsChanged: (data) => this.#settings.change(data),
      agentsChanged: ({ card }) => {
        for (const listener of [...this.#peersListeners]) listener(card);
      },
    };
  }
}

/** What agents may call. */
export class Tools {
  readonly #card: Card;
  readonly #put: (tool: string, handler: ToolHandler<never>) => () => void;

  constructor(card: Card, put: (tool: string, handler: ToolHandler<never>) => () => void) {
    this.#card = card;
    this.#put = put;
  }

  /**
   * Answer the calls of a tool that the manifest declares. `Args` is what its schema says, which the host has checked.
   *
   * @returns a function that unregisters the handler.
   * @throws Error if the tool has a handler already.
   */
  handle<Args = AnyArguments>(name: string, handler: ToolHandler<Args>): () => void {
    return this.#put(name, handler as ToolHandler<never>);
  }

  /** Show a tool to agents or hide it, for all copies of the card. */
  async setEnabled(name: string, enabled: boolean): Promise<void> {
    await this.#card.request("tools.setEnabled", { tool: name, enabled });
  }
}

/** The agents and terminals of the card's workspace. */
export class Agents {
  readonly #card: Card;
  readonly #listeners: Set<(card: string) => void>;

  constructor(card: Card, listeners: Set<(card: string) => void>) {
    this.#card = card;
    this.#listeners = listeners;
  }

  /** Each with `id`, `name`, `kind` ("ai" or "shell"), `status` and whether an arrow joins it (`connected`). */
  async list(options: About = {}): Promise<readonly Peer[]> {
    const card = this.#card.copyOf(options);
    return (await this.#card.request("agents.list", card === undefined ? {} : { card })).agents;
  }

  /** Hear, by the copy's id, that the list is another one; returns what ends that. */
  onChanged(listener: (card: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Runs commands in connected terminals; needs the permission "terminals.write". */
export class Terminals {
  readonly #card: Card;

  constructor(card: Card) {
    this.#card = card;
  }

  /** Run a command line to its end, in the terminal whose id `agents.list` has. */
  async run(terminal: string, command: string, options: RunOptions = {}): Promise<Ran> {
    const timeout = options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs };
    const params = { terminal, command, ...timeout, ...this.#card.about(options) };
    const ran = await this.#card.request("terminals.run", params);
    const { exitCode, output, truncated = false, timedOut = false } = ran;
    return { exitCode, output, truncated, timedOut };
  }

  /** Send characters, as if typed. */
  async write(terminal: string, data: string, options: About = {}): Promise<void> {
    const card = this.#card.copyOf(options);
    await this.#card.request("terminals.write", { terminal, data, ...(card === undefined ? {} : { card }) });
  }
}

/** Asks the user. */
export class Ui {
  readonly #card: Card;

  constructor(card: Card) {
    this.#card = card;
  }

  /** Ask for a yes, before anything that cannot be undone. Nobody there, or no time left, is a no. */
  async confirm(asked: string | ConfirmOptions): Promise<boolean> {
    const { card: _card, call: _call, title, ...rest } = typeof asked === "string" ? { title: asked } : asked;
    const about = this.#card.about(typeof asked === "string" ? {} : asked);
    const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
    return (await this.#card.request("ui.confirm", { title, ...given, ...about })).confirmed;
  }
}

/** JSON values by key, kept by the host. */
export class Storage {
  readonly #card: Card;
  readonly #scope: Scope;

  constructor(card: Card, scope: Scope) {
    this.#card = card;
    this.#scope = scope;
  }

  /** What is kept under a key. */
  async get<T = Json>(key: string, options: About = {}): Promise<T | undefined> {
    const found = await this.#card.request("storage.get", { key, ...this.#where(options) });
    return found.found ? ((found.value ?? null) as T) : undefined;
  }

  /** Keep a JSON value. */
  async set(key: string, value: unknown, options: About = {}): Promise<void> {
    if (value === undefined) throw new CardSdkError("invalid_param", "undefined is no JSON value; delete the key instead");
    await this.#card.request("storage.set", { key, value: value as Json, ...this.#where(options) });
  }

  /** Keep nothing under a key. */
  async delete(key: string, options: About = {}): Promise<void> {
    await this.#card.request("storage.delete", { key, ...this.#where(options) });
  }

  /** All keys, in order. */
  async keys(options: About = {}): Promise<readonly string[]> {
    return (await this.#card.request("storage.keys", this.#where(options))).keys;
  }

  /** Keep nothing. */
  async clear(options: About = {}): Promise<void> {
    await this.#card.request("storage.clear", this.#where(options));
  }

  #where(options: About): { scope?: Scope; card?: string } {
    if (this.#scope === "package") return { scope: "package" };
    const card = this.#card.copyOf(options);
    return card === undefined ? {} : { card };
  }
}

/** The card's log. Its methods never reject, so that nobody must wait for them. */
export class Log {
  readonly #card: Card;

  constructor(card: Card) {
    this.#card = card;
  }

  /** A line for the author. */
  debug(text: string, options: About = {}): Promise<void> {
    return this.#write("debug", text, options);
  }

  /** A line for the user. */
  info(text: string, options: About = {}): Promise<void> {
    return this.#write("info", text, options);
  }

  /** Something that the user should look at. */
  warn(text: string, options: About = {}): Promise<void> {
    return this.#write("warn", text, options);
  }

  /** Something that went wrong. */
  error(text: string, options: About = {}): Promise<void> {
    return this.#write("error", text, options);
  }

  async #write(level: LogLevel, text: string, options: About): Promise<void> {
    const card = this.#card.copyOf(options);
    const params = { level, text: cut(String(text), MAX_LOG_CHARS), ...(card === undefined ? {} : { card }) };
    try {
      await this.#card.request("log.write", params);
    } catch {
      console[level](text); // nobody keeps it: the page's console is what is left
    }
  }
}
