/** A call in a log: a line that says how it does, and opens what went through. */

import { CircleCheck, CircleSlash, CircleX, Clock, LoaderCircle, type LucideIcon } from "lucide-react";
import { memo } from "react";
import { useText } from "../i18n/text.ts";
import { statusWords } from "./ArrowLabel.tsx";
import { OWNER } from "./actions.ts";
import { CallDetails } from "./CallDetails.tsx";
import "./calls.css";
import { useNow } from "./clock.ts";
import { duration } from "./duration.ts";
import { closeCall, useOpened } from "./opened.ts";
import { durationOf, isBad } from "./store.ts";
import type { LogCall } from "./useArrowLog.ts";

const ICONS: Readonly<Record<string, LucideIcon>> = {
  running: LoaderCircle,
  ok: CircleCheck,
  timeout: Clock,
  cancelled: CircleSlash,
  denied: CircleSlash,
};

export const CallEntry = memo(function CallEntry({ arrow, call }: { readonly arrow: string; readonly call: LogCall }) {
  const isOpen = useOpened((state) => state.call === call.call_id);
  const toggle = (): void => (isOpen ? closeCall() : useOpened.setState({ call: call.call_id }));
  return (
    <li className="call-entry" data-status={call.status} data-open={isOpen ? "" : undefined}>
      <button type="button" className="call-line" aria-expanded={isOpen} onClick={toggle}>
        <StatusIcon status={call.status} />
        <span className="call-tool">{call.tool}</span>
        <CallerName id={call.caller.id} name={call.caller.name} />
        <span className="call-time">
          {call.status === "running" ? <Elapsed call={call} /> : duration(durationOf(call, 0))}
        </span>
        {call.status === "running" && call.progress ? <span className="call-words">{call.progress}</span> : null}
        {call.error ? (
          <span className={isBad(call.status) ? "call-words call-words-bad" : "call-words"}>{call.error}</span>
        ) : null}
      </button>
      {isOpen ? <CallDetails arrow={arrow} call={call} /> : null}
    </li>
  );
});

export function StatusIcon({ status }: { readonly status: string }) {
  const text = useText();
  const Icon = ICONS[status] ?? CircleX;
  return (
    <span className={`call-status call-status-${status}`} role="img" aria-label={statusWords(status, text)}>
      <Icon aria-hidden size={15} />
    </span>
  );
}

export function CallerName({ id, name }: { readonly id: string; readonly name: string }) {
  const text = useText();
  return <span className="call-caller">{id === OWNER ? text("calls.you") : name}</span>;
}

export function Elapsed({ call }: { readonly call: LogCall }) {
  const now = useNow();
  return <>{duration(durationOf(call, now), true)}</>;
}
