/** Which cards' frames are there, and how each does; which of them may sleep is decided in `sleep.ts`. */

import { create } from "zustand";
import { onMoments } from "../board/store.ts";

/**
 * asleep: there is no frame. starting: its page is loaded. awake: the host takes it. lost: the host is away.
 * stuck: its script does not answer. elsewhere: another window or program has it. failed: `why` says what is wrong.
 */
export type Phase = "asleep" | "starting" | "awake" | "lost" | "stuck" | "elsewhere" | "failed";

export interface Living {
  readonly phase: Phase;
  /** Counts the starts: a frame of another one is another frame. */
  readonly run: number;
  readonly why: string;
  /** Calls that it is working on. */
  readonly calls: number;
  /** Until when it stays awake out of sight, on the page's clock. */
  readonly wantedUntil: number;
}

interface LivingState {
  readonly cards: Readonly<Record<string, Living>>;
}

export const AWAKE_MS = 60_000;
const ASLEEP: Living = { phase: "asleep", run: 0, why: "", calls: 0, wantedUntil: 0 };
const FRAMED: ReadonlySet<Phase> = new Set(["starting", "awake", "lost", "stuck"]);

export const useLiving = create<LivingState>()(() => ({ cards: {} }));

export function useLife(card: string): Living {
  return useLiving((state) => state.cards[card] ?? ASLEEP);
}

/** Whether a card has a frame. */
export function isFramed(living: Living | undefined): boolean {
  return living !== undefined && FRAMED.has(living.phase);
}

export function changeLife(card: string, change: Partial<Living>): void {
  useLiving.setState(({ cards }) => ({ cards: { ...cards, [card]: { ...(cards[card] ?? ASLEEP), ...change } } }));
}

/** Give the card a frame, a new one where it has one already. */
export function startCard(card: string): void {
  const run = (useLiving.getState().cards[card]?.run ?? 0) + 1;
  changeLife(card, { phase: "starting", run, why: "", calls: 0, wantedUntil: performance.now() + AWAKE_MS });
}

/** Stay awake for a while longer, in sight or not; who sleeps wakes up. */
export function wakeCard(card: string): void {
  const living = useLiving.getState().cards[card];
  if (living !== undefined && isFramed(living)) changeLife(card, { wantedUntil: performance.now() + AWAKE_MS });
  else startCard(card);
}

/** Take the frames of cards away. */
export function sleepCards(ids: readonly string[]): void {
  if (ids.length === 0) return;
  useLiving.setState(({ cards }) => {
    const changed = { ...cards };
    for (const id of ids) changed[id] = { ...(cards[id] ?? ASLEEP), phase: "asleep", why: "", calls: 0 };
    return { cards: changed };
  });
}

/** Know the cards that are shown, and no others. One that is awake when it is first seen is so somewhere else. */
export function meetCards(shown: ReadonlyMap<string, { readonly state: string }>): void {
  const { cards } = useLiving.getState();
  const gone = Object.keys(cards).filter((id) => !shown.has(id));
  const fresh = [...shown].filter(([id]) => cards[id] === undefined);
  if (gone.length === 0 && fresh.length === 0) return;
  const kept = Object.fromEntries(Object.entries(cards).filter(([id]) => shown.has(id)));
  for (const [id, { state }] of fresh) kept[id] = state === "awake" ? { ...ASLEEP, phase: "elsewhere" } : ASLEEP;
  useLiving.setState({ cards: kept });
}

/** The host has told how a card does; who has it here knows better. */
export function hearState(card: string, state: string): void {
  const living = useLiving.getState().cards[card];
  if (living?.phase === "asleep" && state === "awake") changeLife(card, { phase: "elsewhere" });
  if (living?.phase === "elsewhere" && state === "paused") changeLife(card, { phase: "asleep" });
}

onMoments((moments) => {
  for (const moment of moments) {
    if (moment.type === "state") {
      const { card, state } = moment as { readonly card: string; readonly state: string };
      hearState(card, state);
    }
    if (moment.type === "wake") wakeCard((moment as { readonly card: string }).card);
  }
});
