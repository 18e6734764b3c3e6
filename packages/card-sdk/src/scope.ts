/**
 * On whose behalf code runs: what a handler asks of the host is about its call, without saying so.
 *
 * Node follows a call through everything that its handler awaits. A browser cannot yet: there, a request is for the
 * handler that runs at this moment, else for the only call under way, unless the user has just clicked or typed, which
 * may be what it is for. Where that is not enough, requests take the call as an option.
 */

import type { ToolCall } from "./call.js";

interface Followed {
  run<T>(call: ToolCall, body: () => T): T;
  getStore(): ToolCall | undefined;
}

export class CallScope {
  readonly #followed = follower();
  readonly #underWay = new Set<ToolCall>();
  #now: ToolCall | undefined;

  /** Run the beginning of a handler, and remember the call until `end`. */
  run<T>(call: ToolCall, body: () => T): T {
    this.#underWay.add(call);
    const before = this.#now;
    this.#now = call;
    try {
      return this.#followed ? this.#followed.run(call, body) : body();
    } finally {
      this.#now = before;
    }
  }

  /** A call is over. */
  end(call: ToolCall): void {
    this.#underWay.delete(call);
  }

  /** The call under way that code runs for, as far as can be told. */
  current(): ToolCall | undefined {
    const found = this.#found();
    return found && this.#underWay.has(found) ? found : undefined;
  }

  /** The copy that code runs for, also after its call is over. */
  copy(): string | undefined {
    return this.#found()?.card.id;
  }

  #found(): ToolCall | undefined {
    if (this.#followed) return this.#followed.getStore();
    if (this.#now) return this.#now;
    return this.#underWay.size === 1 && !userIsActive() ? [...this.#underWay][0] : undefined;
  }
}

function userIsActive(): boolean {
  return typeof navigator !== "undefined" && navigator.userActivation?.isActive === true;
}

function follower(): Followed | undefined {
  // Not imported: bundlers for browsers would stumble over it.
  const node = (globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } }).process;
  const hooks = node?.getBuiltinModule?.("node:async_hooks") as { AsyncLocalStorage: new () => Followed } | undefined;
  return hooks && new hooks.AsyncLocalStorage();
}
