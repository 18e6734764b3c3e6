/** The log of one arrow: what the host has kept, page by page, and what the feed tells meanwhile. */

import { useCallback, useMemo, useState } from "react";
import { messageOf } from "../api/client.ts";
import { useAsked } from "../api/useAsked.ts";
import { showToast } from "../ui/toasts.ts";
import { type ArrowCall, PAGE, readLog } from "./actions.ts";
import type { ShownCall } from "./store.ts";
import { useLatest } from "./useLatest.ts";

export type LogCall = ArrowCall | ShownCall;

export interface ArrowLog {
  /** The newest first. */
  readonly calls: readonly LogCall[];
  readonly isRead: boolean;
  readonly problem: string | undefined;
  readonly again: () => Promise<void>;
  /** Read what came before; `undefined` where there is nothing more. */
  readonly readOlder: (() => Promise<void>) | undefined;
}

/** Live calls that a log keeps while it is looked at. */
const MOST_LIVE = 100;

export function useArrowLog(arrow: string): ArrowLog {
  const first = useAsked(arrow, () => readLog(arrow));
  const [older, setOlder] = useState<readonly ArrowCall[]>([]);
  const [isWhole, setIsWhole] = useState(false);
  const latest = useLatest();
  const live = useMemo(
    () => [...latest.values()].filter((call) => call.arrow === arrow).slice(-MOST_LIVE),
    [latest, arrow],
  );
  const kept = first.data;
  const calls = useMemo(() => joined([...older, ...(kept ?? [])], live), [older, kept, live]);
  const oldest = older[0] ?? kept?.[0];
  const readOlder = useCallback(async (): Promise<void> => {
    if (oldest === undefined) return;
    try {
      const found = await readLog(arrow, oldest.call_id);
      setOlder((before) => [...found, ...before]);
      if (found.length < PAGE) setIsWhole(true);
    } catch (error) {
      showToast({ tone: "bad", text: messageOf(error) });
    }
  }, [arrow, oldest]);
  const isMore = !isWhole && kept !== undefined && kept.length >= PAGE;
  const { problem, again } = first;
  return { calls, isRead: kept !== undefined, problem, again, readOlder: isMore ? readOlder : undefined };
}

/** What was kept and what was told, each call once, the newest first; what was told last counts. */
export function joined(kept: readonly ArrowCall[], live: readonly ShownCall[]): readonly LogCall[] {
  const all = new Map<string, LogCall>(kept.map((call) => [call.call_id, call]));
  for (const call of live) {
    const known = all.get(call.call_id);
    if (known === undefined || known.status === "running" || call.status !== "running") all.set(call.call_id, call);
  }
  return [...all.values()].reverse();
}
