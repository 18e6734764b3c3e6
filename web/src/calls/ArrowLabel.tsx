/** The label of an arrow: the newest call's tool and progress, for how long, and how many others run; then how it ended. */

import { CircleCheck, CircleSlash, CircleX, Clock, type LucideIcon } from "lucide-react";
import { memo } from "react";
import { useText } from "../i18n/text.ts";
import { useNow } from "./clock.ts";
import "./arrow-label.css";
import { duration } from "./duration.ts";
import { openCall } from "./opened.ts";
import { durationOf, type ShownCall, useCalls } from "./store.ts";

const ICONS: Readonly<Record<string, LucideIcon>> = {
  ok: CircleCheck,
  error: CircleX,
  timeout: Clock,
  cancelled: CircleSlash,
  denied: CircleSlash,
};

/** A call that took longer than this settles so that people see it; many short ones would only flicker. */
const SETTLES_MS = 500;

export const ArrowLabel = memo(function ArrowLabel({ arrow }: { readonly arrow: string }) {
  const calls = useCalls((state) => state.places[arrow]);
  if (calls === undefined) return null;
  const running = Object.values(calls.running);
  const call = running.at(-1) ?? calls.ended;
  if (call === undefined) return null;
  const settles = call.since !== undefined && call.status !== "running" && durationOf(call, 0) > SETTLES_MS;
  return (
    <button
      type="button"
      className={`arrow-label arrow-label-${call.status} nodrag nopan`}
      data-settles={settles ? "" : undefined}
      title={call.error || call.progress || undefined}
      onClick={() => openCall(arrow, call.call_id)}
    >
      {call.status === "running" ? <Running call={call} others={running.length - 1} /> : <Ended call={call} />}
    </button>
  );
});

/** Whether data flows over an arrow now. */
export function useFlows(arrow: string): boolean {
  return useCalls((state) => {
    for (const _ in state.places[arrow]?.running) return true;
    return false;
  });
}

function Running({ call, others }: { readonly call: ShownCall; readonly others: number }) {
  const text = useText();
  const now = useNow();
  return (
    <>
      <span className="arrow-label-pulse" aria-hidden />
      <span className="arrow-label-tool">{call.tool}</span>
      {call.progress ? <span className="arrow-label-words">{call.progress}</span> : null}
      <span className="arrow-label-time">{duration(durationOf(call, now), true)}</span>
      {others > 0 ? (
        <span className="arrow-label-count" title={text("calls.more_running", { n: others })}>
          +{others}
        </span>
      ) : null}
    </>
  );
}

function Ended({ call }: { readonly call: ShownCall }) {
  const text = useText();
  const Icon = ICONS[call.status] ?? CircleX;
  return (
    <>
      <Icon aria-hidden size={13} />
      <span className="arrow-label-tool">{call.tool}</span>
      <span className="arrow-label-outcome">{statusWords(call.status, text)}</span>
      <span className="arrow-label-time">{duration(durationOf(call, 0))}</span>
    </>
  );
}

/** A word for how a call does. */
export function statusWords(status: string, text: ReturnType<typeof useText>): string {
  return text(`calls.status.${status}` as "calls.status.ok");
}
