/** A card's end of one connection: requests and their answers, calls and their handlers. It opens no connection. */

import type { ToolCall } from "./call.js";
import { RunningCall } from "./call.js";
import { CardSdkError } from "./errors.js";
import type { Handlers } from "./handlers.js";
import type { Events, Method, Params, Ready, RespondParams, Results, ToolCallData } from "./protocol.js";
import { MAX_DEPTH, MAX_ERROR_CHARS, MAX_LOG_CHARS, MAX_MESSAGE_BYTES, PONG_EVENT, PROTOCOL } from "./protocol.js";
import { resultOf } from "./results.js";
import type { CallScope } from "./scope.js";
import { byteLength, cut, isTooDeep, jsonText, mayBeDeep, wordsOf } from "./texts.js";
import { SDK } from "./version.js";

/** Who hears of the host's events that are not about calls. */
export interface Listener {
  cardsChanged(data: Events["cards.changed"]): void;
  agentsChanged(data: Events["agents.changed"]): void;
  settingsChanged(data: Events["settings.changed"]): void;
}

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: CardSdkError) => void;
}

interface Incoming {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly retryAfterMs?: number | null };
  readonly event?: unknown;
  readonly data?: unknown;
}

export class Session {
  readonly #port: MessagePort;
  readonly #handlers: Handlers;
  readonly #scope: CallScope;
  readonly #listener: Listener;
  readonly #waiting = new Map<number, Waiting>();
  readonly #calls = new Map<string, RunningCall>();
  #ids = 0;
  #lost: string | undefined;

  constructor(port: MessagePort, handlers: Handlers, scope: CallScope, listener: Listener) {
    this.#port = port;
    this.#handlers = handlers;
    this.#scope = scope;
    this.#listener = listener;
    port.addEventListener("message", this.#onMessage);
    port.addEventListener("close", this.#onClose);
    port.start();
  }

  /** Say `host.ready`, before which nothing else may be said. Rejects with a `CardSdkError` if the host refuses. */
  ready(instance: string | undefined): Promise<Ready> {
    return this.request("host.ready", { protocol: PROTOCOL, sdk: SDK, ...(instance === undefined ? {} : { instance }) });
  }

  /** Ask the host. Rejects with a `CardSdkError` if it refuses, or is gone. */
  request<M extends Method>(method: M, params: Params[M]): Promise<Results[M]> {
    if (this.#lost !== undefined) return Promise.reject(new CardSdkError("unavailable", this.#lost));
    this.#ids += 1;
    const id = this.#ids;
    return new Promise((resolve, reject) => {
      this.#post({ id, method, params });
      this.#waiting.set(id, { resolve, reject });
    });
  }

  /** End the connection: what is under way fails, and calls are cancelled. */
  close(why: string): void {
    if (this.#lost !== undefined) return;
    this.#lost = why;
    this.#port.removeEventListener("message", this.#onMessage);
    this.#port.removeEventListener("close", this.#onClose);
    this.#port.close();
    for (const waiting of this.#waiting.values()) waiting.reject(new CardSdkError("unavailable", why));
    for (const running of this.#calls.values()) running.cancel("unloaded", why);
    this.#waiting.clear();
  }

  readonly #onClose = (): void => {
    this.close("the connection to the host was lost");
  };

  readonly #onMessage = (event: MessageEvent): void => {
    try {
      this.#take(event.data as Incoming | null);
    } catch (error) {
      console.warn(`the host said what cannot be read: ${wordsOf(error)}`);
    }
  };

  #take(message: Incoming | null): void {
    if (typeof message?.event === "string") this.#takeEvent(message.event, message.data);
    else if (typeof message?.id === "number") this.#takeResponse(message.id, message);
  }

  #post(message: unknown): void {
    const text = jsonText(message);
    const size = byteLength(text);
    if (size > MAX_MESSAGE_BYTES) {
      throw new CardSdkError("payload_too_large", `a message has at most ${MAX_MESSAGE_BYTES} bytes, not ${size}`);
    }
    const plain: unknown = JSON.parse(text); // what JSON has not would not arrive at a host behind a socket
    if (mayBeDeep(text, MAX_DEPTH) && isTooDeep(plain, MAX_DEPTH)) {
      throw new CardSdkError("invalid_param", `a message is nested too deeply; ${MAX_DEPTH} levels are taken`);
    }
    this.#port.postMessage(plain);
  }

  #takeResponse(id: number, message: Incoming): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    const error = message.error;
    if (error) waiting.reject(new CardSdkError(error.code, error.message, error.retryAfterMs));
    else waiting.resolve((message.result ?? {}) as never);
  }

  #takeEvent(name: string, data: unknown): void {
    switch (name as keyof Events) {
      case "tools.call":
        void this.#answer(this.#begun(data as ToolCallData));
        return;
      case "tools.cancel": {
        const { callId, code, reason } = data as Events["tools.cancel"];
        this.#calls.get(callId)?.cancel(code, reason);
        return;
      }
      case "host.ping":
        this.#port.postMessage({ event: PONG_EVENT, data: {} });
        return;
      case "cards.changed":
        this.#listener.cardsChanged(data as Events["cards.changed"]);
        return;
      case "agents.changed":
        this.#listener.agentsChanged(data as Events["agents.changed"]);
        return;
      case "settings.changed":
        this.#listener.settingsChanged(data as Events["settings.changed"]);
        return;
      default: // a newer host tells more
    }
  }

  #begun(data: ToolCallData): RunningCall {
    const { callId } = data;
    const running = new RunningCall(data, (message) => this.#tell("tools.progress", { callId, message }));
    this.#calls.set(callId, running);
    return running;
  }

  /** Run the handler of a call, and tell the host what became of it, if that is still wanted. */
  async #answer(running: RunningCall): Promise<void> {
    const call = running.call;
    try {
      const { respond, failure } = await this.#outcome(running);
      if (call.signal.aborted) return;
      running.finish();
      this.#tell("tools.respond", respond);
      if (failure !== undefined) this.#logStack(call, failure);
    } finally {
      running.end();
      this.#scope.end(call);
      this.#calls.delete(call.callId);
    }
  }

  /** What the host is told, and what the handler has thrown. */
  async #outcome({ call, args }: RunningCall): Promise<{ respond: RespondParams; failure?: unknown }> {
    const { callId, tool } = call;
    const handler = await this.#handlers.find(tool, call.signal);
    if (handler === undefined) {
      return { respond: { callId, error: `the card has no handler for ${JSON.stringify(tool)} any more` } };
    }
    const aborted = whenAborted(call.signal);
    try {
      const returning = this.#scope.run(call, () => toPromise(() => handler(args as never, call)));
      void returning.then(() => this.#logLate(call, aborted), () => undefined);
      // Whoever ignores the signal is not waited for.
      const returned = await Promise.race([returning, aborted.then(() => undefined)]);
      return { respond: { callId, result: resultOf(returned) } };
    } catch (error) {
      const words = cut(wordsOf(error), MAX_ERROR_CHARS) || "the card failed without a word";
      return { respond: { callId, error: words }, failure: error };
    }
  }

  /** The stack is the author's to read; the agent gets the words alone (decision 32). */
  #logStack(call: ToolCall, error: unknown): void {
    const stack = error instanceof Error ? error.stack : undefined;
    if (stack) this.#tell("log.write", { level: "warn", text: cut(stack, MAX_LOG_CHARS), card: call.card.id });
  }

  #logLate(call: ToolCall, aborted: Promise<number>): void {
    if (!call.signal.aborted) return;
    void aborted.then((at) => {
      const text = `a result of ${call.tool} came ${Math.round(performance.now() - at)} ms too late and was dropped`;
      this.#tell("log.write", { level: "debug", text, card: call.card.id });
    });
  }

  /** Ask for nothing: a host that does not want to hear it has its reasons, such as a call that ended meanwhile. */
  #tell<M extends Method>(method: M, params: Params[M]): void {
    this.request(method, params).catch((error: unknown) => {
      if (this.#lost === undefined) console.debug(`${method}: ${wordsOf(error)}`);
    });
  }
}

/** What a function returns, as a promise, whatever it throws. */
async function toPromise(body: () => unknown): Promise<unknown> {
  return await body();
}

/** When a signal fires, on the monotonic clock. */
function whenAborted(signal: AbortSignal): Promise<number> {
  return new Promise((resolve) => {
    const fired = (): void => resolve(performance.now());
    if (signal.aborted) fired();
    else signal.addEventListener("abort", fired, { once: true });
  });
}
