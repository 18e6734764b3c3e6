/** Hands on what the feed tells, gathered for each frame of the screen, so that many moments cost one look at the page. */

import type { Moment } from "../api/feed.ts";

type Listener = (moments: readonly Moment[]) => void;

/** A page that is not looked at has no frames; it goes on all the same, less often. */
const HIDDEN_MS = 250;
/** More than these do not wait for a frame. */
const MOST_WAITING = 2_000;

const listeners = new Set<Listener>();
let waiting: Moment[] = [];
let cancel: (() => void) | undefined;

/** Hear moments from now on, those of a frame together and in order; gives back how to stop that. */
export function onMoments(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The same, one by one. */
export function onMoment(listener: (moment: Moment) => void): () => void {
  return onMoments((moments) => moments.forEach(listener));
}

/** Something happened; listeners hear it with the next frame. */
export function gather(moment: Moment): void {
  waiting.push(moment);
  if (waiting.length >= MOST_WAITING) handOn();
  else cancel ??= soon(handOn);
}

/** Listeners hear at once what has been gathered. */
export function handOn(): void {
  cancel?.();
  cancel = undefined;
  const moments = waiting;
  waiting = [];
  if (moments.length > 0) for (const listener of [...listeners]) listener(moments);
}

/** Forget what nobody has heard yet: it was of another workspace. */
export function forgetGathered(): void {
  waiting = [];
}

function soon(run: () => void): () => void {
  if (document.hidden) {
    const timer = window.setTimeout(run, HIDDEN_MS);
    return () => window.clearTimeout(timer);
  }
  const frame = window.requestAnimationFrame(run);
  const timer = window.setTimeout(run, HIDDEN_MS); // frames stop when the page is hidden meanwhile
  return () => {
    window.cancelAnimationFrame(frame);
    window.clearTimeout(timer);
  };
}
