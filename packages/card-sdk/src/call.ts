/** One call of a card's tool: what its handler sees of it, and how its time and its progress are kept. */

import { CallCancelled } from "./errors.js";
import type { AgentRef, CancelCode, CardRef, ToolCallData } from "./protocol.js";
import { MAX_PROGRESS_CHARS } from "./protocol.js";
import { cut, oneLine } from "./texts.js";

/** A call, as its handler gets it (cards.md 30-37). */
export interface ToolCall {
  readonly callId: string;
  /** The tool's name in the manifest. */
  readonly tool: string;
  /** The name that the agent used. */
  readonly exposedName: string;
  /** Who calls. */
  readonly agent: AgentRef;
  /** The copy that it is for. */
  readonly card: CardRef;
  /** When the host gives up, in milliseconds since 1970, by this machine's clock. */
  readonly deadline: number;
  /** Aborts when the agent gives up, at the deadline, and when the arrow goes; `reason` is a `CallCancelled`. */
  readonly signal: AbortSignal;
  /** Show one short line on the arrow, 200 characters at most; the latest one counts. */
  readonly progress: (message: string) => void;
}

const PROGRESS_GAP_MS = 250;

/** Says the latest of what it is told: at once, then once in a while, and the rest on `flush`. */
class Progress {
  readonly #say: (message: string) => void;
  #waiting: string | undefined;
  #pause: ReturnType<typeof setTimeout> | undefined;

  constructor(say: (message: string) => void) {
    this.#say = say;
  }

  tell(message: string): void {
    const line = cut(oneLine(String(message)), MAX_PROGRESS_CHARS);
    if (line === "") return;
    this.#waiting = line;
    if (this.#pause === undefined) this.#speak();
  }

  /** Say what waits, and nothing later. */
  flush(): void {
    this.drop(this.#waiting);
  }

  /** Say nothing more, or these last words. */
  drop(last?: string): void {
    clearTimeout(this.#pause);
    this.#waiting = undefined;
    if (last !== undefined) this.#say(last);
  }

  #speak(): void {
    const line = this.#waiting;
    this.#waiting = undefined;
    this.#pause = line === undefined ? undefined : setTimeout(() => this.#speak(), PROGRESS_GAP_MS);
    if (line !== undefined) this.#say(line);
  }
}

/** A call that is being answered. `end` it, whatever became of it. */
export class RunningCall {
  readonly call: ToolCall;
  readonly args: ToolCallData["arguments"];
  readonly #abort = new AbortController();
  readonly #progress: Progress;
  readonly #timer: ReturnType<typeof setTimeout>;
  #isOver = false;

  constructor(data: ToolCallData, say: (message: string) => void) {
    this.args = data.arguments;
    this.#progress = new Progress(say);
    // The host's clock may be another one: what is left counts, by a timer that no clock change moves (decision 22).
    this.#timer = setTimeout(() => this.cancel("deadline", "the time is up"), data.remainingMs);
    this.call = Object.freeze({
      callId: data.callId,
      tool: data.tool,
      exposedName: data.exposedName,
      agent: data.agent,
      card: data.card,
      deadline: Date.now() + data.remainingMs,
      signal: this.#abort.signal,
      progress: (message: string) => {
        if (!this.#isOver) this.#progress.tell(message);
      },
    });
  }

  /** Nobody wants the result any more; only the first time counts. */
  cancel(code: CancelCode, reason: string): void {
    if (this.#isOver) return;
    this.end();
    this.#abort.abort(new CallCancelled(code, reason));
  }

  /** The last progress goes out, and the result may follow. */
  finish(): void {
    this.#progress.flush();
    this.end();
  }

  /** Nothing comes of this call any more. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#progress.drop();
  }
}
