/** The latest calls for lists of them: new a few times a second, however many there are; a label has its own, at once. */

import { useEffect, useState } from "react";
import { type ShownCall, useCalls } from "./store.ts";

const PAUSE_MS = 200;

export function useLatest(): ReadonlyMap<string, ShownCall> {
  const [latest, setLatest] = useState(() => useCalls.getState().latest);
  useEffect(() => {
    let timer: number | undefined;
    let toldAt = 0;
    const tell = (): void => {
      timer = undefined;
      toldAt = performance.now();
      setLatest(useCalls.getState().latest);
    };
    const stop = useCalls.subscribe((state, before) => {
      if (state.latest === before.latest) return;
      timer ??= window.setTimeout(tell, Math.max(0, PAUSE_MS - (performance.now() - toldAt)));
    });
    tell();
    return () => {
      stop();
      window.clearTimeout(timer);
    };
  }, []);
  return latest;
}
