/** The label of an arrow: the newest call's tool and progress, and how many others run. */

import { useText } from "../i18n/text.ts";
import "./arrow-label.css";
import { useCalls } from "./store.ts";

export function ArrowLabel({ arrow }: { readonly arrow: string }) {
  const text = useText();
  const calls = useCalls((state) => state.arrows[arrow]);
  const running = calls ? Object.values(calls.running) : [];
  const newest = running.at(-1) ?? calls?.ended;
  if (newest === undefined) return null;
  const line =
    newest.status === "running" ? newest.progress : text(`calls.status.${newest.status}` as "calls.status.ok");
  return (
    <span className={`arrow-label arrow-label-${newest.status}`}>
      {newest.tool}
      {line ? ` · ${line}` : ""}
      {running.length > 1 ? ` (+${running.length - 1})` : ""}
    </span>
  );
}
