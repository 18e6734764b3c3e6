/** The calls of the arrows that are shown, as the feed tells them: for each arrow those that run, and the last that ended. */

import { create } from "zustand";
import type { Schemas } from "../api/client.ts";
import type { CallMoment, Moment } from "../api/feed.ts";
import { onMoments } from "../board/store.ts";

export type ShownCall = Schemas["ArrowCall"];

export interface ArrowCalls {
  /** By call id, the oldest first. */
  readonly running: Readonly<Record<string, ShownCall>>;
  readonly ended: ShownCall | undefined;
}

interface CallsState {
  readonly arrows: Readonly<Record<string, ArrowCalls>>;
}

const NONE: ArrowCalls = { running: {}, ended: undefined };

export const useCalls = create<CallsState>()(() => ({ arrows: {} }));

/** The calls of an arrow after one moment of it. */
export function after(calls: ArrowCalls, { arrow: _, type: __, ...call }: CallMoment): ArrowCalls {
  if (call.status === "running") return { ...calls, running: { ...calls.running, [call.call_id]: call } };
  const { [call.call_id]: ended, ...running } = calls.running;
  return { running, ended: call };
}

onMoments((moments: readonly Moment[]) => {
  let arrows: Record<string, ArrowCalls> | undefined;
  for (const moment of moments) {
    if (moment.type === "reset") arrows = {};
    if (moment.type !== "call") continue;
    const told = moment as CallMoment;
    arrows ??= { ...useCalls.getState().arrows };
    arrows[told.arrow] = after(arrows[told.arrow] ?? NONE, told);
  }
  if (arrows) useCalls.setState({ arrows });
});
