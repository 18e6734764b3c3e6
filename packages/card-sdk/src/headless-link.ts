/**
 * Carries what a card and its host say between the card's port and the host's WebSocket, and connects again when that
 * is lost: requests that were under way are refused then, calls are cancelled, and the card's handlers stay as they are.
 */

import { CardSdkError } from "./errors.js";
import type { Events, Fault, Ready } from "./protocol.js";
import { REPLACED } from "./protocol.js";

const PATH = "/api/v1/cards/link";
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;
const POLICY = 1008;
const ANSWER_MS = 10_000;
const SILENCE_MS = 10_000;
/** The id of `host.ready` at another connection, which no card uses for a request of its own. */
const AGAIN = 0;

export interface HostAddress {
  /** Of the host, as `http://127.0.0.1:8094`. */
  readonly url: string;
  /** The owner's `oag_` key. */
  readonly key: string;
  /** The package's id, or its name where one package has it. */
  readonly package: string;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly event?: string;
  readonly data?: unknown;
  readonly result?: unknown;
  readonly error?: Fault;
}

interface Lost {
  readonly code: number;
  readonly reason: string;
}

export class HostLink {
  readonly #address: HostAddress;
  readonly #port: MessagePort;
  readonly #tell: (line: string) => void;
  readonly #asked = new Set<number>();
  readonly #calls = new Set<string>();
  readonly #held: Message[] = [];
  #socket: WebSocket | undefined;
  #first: Message | undefined;
  #isReady = false;
  readonly #begun: Promise<void>;
  #begin: () => void = () => undefined;

  constructor(address: HostAddress, port: MessagePort, tell: (line: string) => void) {
    this.#address = address;
    this.#port = port;
    this.#tell = tell;
    this.#begun = new Promise((resolve) => (this.#begin = resolve));
    port.addEventListener("message", (event) => this.#fromCard(event.data as Message));
    port.start();
  }

  /** Carry until the host wants no more of it; rejects with a `CardSdkError` that says why. */
  async run(): Promise<never> {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      let why: string;
      try {
        const id = await packageId(this.#address);
        await this.#beginning(); // a host does not wait long for a card that is still being loaded
        const lost = await this.#carry(id);
        refuse(lost);
        why = lost.reason || `code ${lost.code}`;
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        why = error.message;
      }
      if (this.#isReady) pause = FIRST_PAUSE_MS;
      this.#onLost(why);
      this.#tell(`not connected: ${why}`);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  async #beginning(): Promise<void> {
    const words = "the card has not connected yet: does its script import @toolwire/card-sdk, and register a handler?";
    const timer = setTimeout(() => this.#tell(words), SILENCE_MS);
    await this.#begun;
    clearTimeout(timer);
  }

  /** One connection, from its opening to its end. */
  async #carry(packageId: string): Promise<Lost> {
    const address = new URL(PATH, this.#address.url);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    address.searchParams.set("package", packageId);
    const socket = openSocket(address, this.#address.key);
    return new Promise((resolve, reject) => {
      let isOpen = false;
      socket.onopen = () => {
        isOpen = true;
        this.#socket = socket;
        if (this.#first) this.#send({ ...this.#first, id: this.#first.id ?? AGAIN });
      };
      socket.onmessage = ({ data }) => this.#fromHost(JSON.parse(String(data)) as Message);
      socket.onclose = ({ code, reason }) => {
        if (isOpen) resolve({ code, reason });
        else reject(new Unreachable(`the host at ${this.#address.url} does not take the connection`));
      };
    });
  }

  #fromCard(message: Message): void {
    if (message.method === "host.ready" && this.#first === undefined) {
      this.#first = message;
      this.#begin();
    } else if (this.#isReady) this.#send(message);
    else this.#held.push(message);
  }

  #send(message: Message): void {
    if (message.id !== undefined) this.#asked.add(message.id);
    if (message.method === "tools.respond") this.#calls.delete((message.params as { callId: string }).callId);
    this.#socket?.send(JSON.stringify(message));
  }

  #fromHost(message: Message): void {
    if (message.event === "tools.call") this.#calls.add((message.data as Events["tools.call"]).callId);
    if (message.event === "tools.cancel") this.#calls.delete((message.data as Events["tools.cancel"]).callId);
    if (message.id !== undefined) {
      this.#asked.delete(message.id);
      if (message.id === this.#first?.id) {
        this.#onReady(message);
        if (message.id === AGAIN) return;
      }
    }
    this.#port.postMessage(message);
  }

  /** The host knows the card; at another connection the card is told what may have changed meanwhile. */
  #onReady(message: Message): void {
    if (message.error) return; // the host closes the connection next, and says why
    const ready = message.result as Ready;
    this.#isReady = true;
    this.#tell(`connected: ${ready.package} ${ready.version}, ${ready.cards.length} on boards`);
    if (message.id === AGAIN) {
      for (const data of ready.settings ?? []) this.#port.postMessage({ event: "settings.changed", data });
      this.#port.postMessage({ event: "cards.changed", data: { cards: ready.cards } });
    }
    for (const held of this.#held.splice(0)) this.#send(held);
  }

  #onLost(why: string): void {
    if (this.#first && this.#isReady) this.#first = { ...this.#first, id: AGAIN };
    this.#socket = undefined;
    this.#isReady = false;
    const message = `the connection to the host was lost: ${why}`;
    for (const id of this.#asked) {
      if (id !== this.#first?.id) this.#port.postMessage({ id, error: { code: "unavailable", message } });
    }
    for (const callId of this.#calls) {
      this.#port.postMessage({ event: "tools.cancel", data: { callId, code: "unloaded", reason: message } });
    }
    this.#asked.clear();
    this.#calls.clear();
  }
}

/** The host is not there, or not now. */
class Unreachable extends Error {}

/** Ends for which another connection would be no better. */
function refuse({ code, reason }: Lost): void {
  if (code === POLICY) throw new CardSdkError("refused", `the host refuses this card: ${reason}`);
  if (code === REPLACED) throw new CardSdkError("replaced", reason);
}

/** The id of the package that is meant, as the host knows it. */
async function packageId({ url, key, package: named }: HostAddress): Promise<string> {
  let response: Response;
  try {
    response = await fetch(new URL("/api/v1/card-packages", url), {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(ANSWER_MS),
    });
  } catch (error) {
    throw new Unreachable(`there is no host at ${url}: ${((error as Error).cause as Error | undefined)?.message ?? error}`);
  }
  if (response.status === 401 || response.status === 403) {
    throw new CardSdkError("unauthorized", `the host at ${url} does not take this key; use the owner's oag_ key`);
  }
  if (!response.ok) throw new Unreachable(`the host at ${url} answers with HTTP ${response.status}`);
  const { data } = (await response.json()) as { data: { packages: ReadonlyArray<Listed> } };
  const found = data.packages.filter((one) => one.package === named || one.name === named);
  const [only] = found.length > 1 ? found.filter((one) => one.package === named) : found;
  if (found.length > 1 && only === undefined) {
    const ids = found.map((one) => one.package).join(", ");
    throw new CardSdkError("package_not_found", `several packages have the name ${named}; say which: ${ids}`);
  }
  if (only === undefined) {
    throw new CardSdkError("package_not_found", `the host at ${url} has no package ${named}; add it first: toolwire card add`);
  }
  if (only.accepted_version === null) {
    throw new CardSdkError("consent_required", `package ${named} waits for consent: toolwire card add SOURCE --yes gives it`);
  }
  return only.package;
}

interface Listed {
  readonly package: string;
  readonly name: string;
  readonly accepted_version: string | null;
}

/** Node's WebSocket takes headers; the browser's type, which is in force here, does not know of it. */
function openSocket(address: URL, key: string): WebSocket {
  const WithHeaders = WebSocket as unknown as new (url: URL, options: object) => WebSocket;
  return new WithHeaders(address, { headers: { authorization: `Bearer ${key}` } });
}
