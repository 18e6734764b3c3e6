/** A word about how something does, in a colour; the word carries the meaning, the colour repeats it. */

import type { ReactNode } from "react";
import "./badge.css";

export type Tone = "neutral" | "ok" | "warn" | "bad" | "info" | "accent";

export function Badge({ tone = "neutral", children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return <span className={`badge badge-${tone}`}>{children}</span>;
}
