/** Asks the host when a component is shown, and again when it is told to; a newer question makes an older answer void. */

import { useCallback, useEffect, useRef, useState } from "react";
import { messageOf } from "./client.ts";

export interface Asked<T> {
  readonly data: T | undefined;
  /** Why there is no answer, in words. */
  readonly problem: string | undefined;
  /** Ask once more; what is there stays until the answer has come. */
  readonly again: () => Promise<void>;
}

/** `question` is asked anew whenever `key` changes. */
export function useAsked<T>(key: string, question: () => Promise<T>): Asked<T> {
  const [state, setState] = useState<{ key: string; data?: T; problem?: string }>({ key });
  const latest = useRef(0);
  const asked = useRef(question);
  asked.current = question;
  const again = useCallback(async (): Promise<void> => {
    latest.current += 1;
    const mine = latest.current;
    try {
      const data = await asked.current();
      if (latest.current === mine) setState({ key, data });
    } catch (error) {
      if (latest.current === mine) setState({ key, problem: messageOf(error) });
    }
  }, [key]);
  useEffect(() => {
    void again();
    return () => {
      latest.current += 1;
    };
  }, [again]);
  const known = state.key === key ? state : undefined;
  return { data: known?.data, problem: known?.problem, again };
}
