/** The audit chain as the page reads it: JSON lines, the newest entries first. */

import { ApiError } from "../api/client.ts";
import { text } from "../i18n/text.ts";

/** One call that has ended; the host's `gateway.audit.AuditEntry`. */
export interface AuditEntry {
  readonly seq: number;
  readonly call_id: string;
  readonly agent_id: string;
  readonly tool: string;
  readonly principal: string;
  readonly surface: string;
  readonly began_at: string;
  readonly ended_at: string;
  readonly status: string;
  readonly error_code?: string;
  readonly previous: string;
  readonly hash: string;
}

/** How a call ends, as the host says it. */
export const STATUSES = ["completed", "failed", "timeout", "rejected", "canceled"] as const;

export const ALL_PATH = "/api/v1/audit";
const NEWEST = Number.MAX_SAFE_INTEGER;

/** The last entries before the one numbered `before`, the newest first. */
export async function readEntries(limit: number, before = NEWEST): Promise<readonly AuditEntry[]> {
  const answer = await fetch(`${ALL_PATH}?before=${before}&limit=${limit}`, { credentials: "same-origin" });
  if (!answer.ok) throw new ApiError("unexpected", text("error.unexpected"), answer.status);
  return entriesIn(await answer.text()).reverse();
}

export function entriesIn(lines: string): AuditEntry[] {
  return lines
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as AuditEntry);
}

/** The number of the first entry, of those given the newest first, that does not follow the one before it. */
export function firstBreak(entries: readonly AuditEntry[]): number | undefined {
  for (let at = entries.length - 2; at >= 0; at -= 1) {
    const [entry, before] = [entries[at], entries[at + 1]];
    if (entry && before && (entry.previous !== before.hash || entry.seq !== before.seq + 1)) return entry.seq;
  }
  return undefined;
}
