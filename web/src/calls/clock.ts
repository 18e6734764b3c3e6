/** One clock for all that counts seconds on the page: it ticks while somebody looks. */

import { useSyncExternalStore } from "react";

const TICK_MS = 500;

const listeners = new Set<() => void>();
let now = Date.now();
let timer: number | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  now = Date.now();
  timer ??= window.setInterval(() => {
    now = Date.now();
    for (const each of [...listeners]) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    window.clearInterval(timer);
    timer = undefined;
  };
}

/** Milliseconds since 1970, new every half second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}
