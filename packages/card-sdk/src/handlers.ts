/** The handlers of a card's tools, which may come and go while calls wait for them (cards.md 59, decision 23). */

import type { ToolCall } from "./call.js";
import type { Json } from "./protocol.js";

/** The arguments of a call before an author says what they are. */
export type AnyArguments = { readonly [name: string]: Json };

/** Answers the calls of a tool: what it returns, or resolves with, is the result; what it throws is an error. */
export type ToolHandler<Args = AnyArguments> = (args: Args, call: ToolCall) => unknown;

/** How long a call waits for a handler that was there and was taken away. */
const GONE_HANDLER_MS = 5_000;

type Known = ToolHandler<never>;

export class Handlers {
  readonly #known = new Map<string, Known>();
  readonly #gone = new Set<string>();
  readonly #waiting = new Map<string, Set<(handler: Known) => void>>();

  /**
   * A tool is answered by `handler` from now on, until the function that this returns is called.
   *
   * @throws Error if the tool has a handler already.
   */
  put(tool: string, handler: Known): () => void {
    if (this.#known.has(tool)) {
      throw new Error(`tool ${JSON.stringify(tool)} has a handler already; unregister that one first`);
    }
    this.#known.set(tool, handler);
    for (const found of [...(this.#waiting.get(tool) ?? [])]) found(handler);
    let isThere = true;
    return () => {
      if (!isThere) return;
      isThere = false;
      this.#known.delete(tool);
      this.#gone.add(tool);
    };
  }

  /** The handler of a tool, when it comes; nothing if it was there and does not come back soon, or at `signal`. */
  find(tool: string, signal: AbortSignal): Promise<Known | undefined> {
    const known = this.#known.get(tool);
    if (known !== undefined || signal.aborted) return Promise.resolve(known);
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(tool) ?? new Set();
      this.#waiting.set(tool, waiting);
      const giveUp = (): void => done(undefined);
      const timer = this.#gone.has(tool) ? setTimeout(giveUp, GONE_HANDLER_MS) : undefined;
      const done = (handler: Known | undefined): void => {
        clearTimeout(timer);
        waiting.delete(done);
        signal.removeEventListener("abort", giveUp);
        resolve(handler);
      };
      waiting.add(done);
      signal.addEventListener("abort", giveUp, { once: true });
    });
  }
}
