/** What this page has changed and the host has not confirmed yet: it stays on show when older news of the feed arrive. */

import type { BoardChange } from "../api/feed.ts";
import type { Card } from "./model.ts";

type Patch = Readonly<Record<string, unknown>>;

const patches = new Map<string, Patch[]>();
const gone = new Map<string, number>();

/** An edit is on its way; gives back what to do when it has arrived, or has failed. */
export function pend(changed: readonly { readonly id: string; readonly patch: Patch }[], removed: readonly string[]) {
  for (const { id, patch } of changed) patches.set(id, [...(patches.get(id) ?? []), patch]);
  for (const id of removed) gone.set(id, (gone.get(id) ?? 0) + 1);
  return (): void => {
    for (const { id, patch } of changed)
      keep(
        id,
        (patches.get(id) ?? []).filter((one) => one !== patch),
      );
    for (const id of removed) {
      const left = (gone.get(id) ?? 0) - 1;
      if (left > 0) gone.set(id, left);
      else gone.delete(id);
    }
  };
}

/** What the feed tells, as it is to be shown; `undefined` where it is out of date. */
export function overlaid(change: BoardChange): BoardChange | undefined {
  if (change.change === "put_card") {
    if (gone.has(change.card.id)) return undefined;
    const own = patches.get(change.card.id);
    return own ? { change: "put_card", card: Object.assign({}, change.card, ...own) as Card } : change;
  }
  if (change.change === "put_arrow" && gone.has(change.arrow.id)) return undefined;
  return change;
}

function keep(id: string, left: readonly Patch[]): void {
  if (left.length > 0) patches.set(id, [...left]);
  else patches.delete(id);
}
