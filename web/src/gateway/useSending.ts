/** What every small form does: it is sent once at a time, closes when that went well, and says why when it did not. */

import { useState } from "react";
import { messageOf } from "../api/client.ts";

export interface Sending {
  readonly busy: boolean;
  readonly problem: string | undefined;
  readonly send: (action: () => Promise<void>) => Promise<void>;
}

export function useSending(): Sending {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const send = async (action: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await action();
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  return { busy, problem, send };
}
