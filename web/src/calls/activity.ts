/** How lively a card is, by the calls of its arrows: a word for its ring, which changes only when that word does. */

import { create } from "zustand";
import type { Moment } from "../api/feed.ts";
import type { Arrow } from "../board/model.ts";
import { onMoments, useBoard } from "../board/store.ts";
import { isBad, type PlaceCalls, type ShownCall, useCalls } from "./store.ts";

export type Activity = "running" | "waiting" | "failed" | undefined;

const NONE: readonly string[] = [];
const indexes = new WeakMap<object, Readonly<Record<string, readonly string[]>>>();

/** The arrows of each card, worked out once for each state of the board's arrows. */
export function arrowsByCard(arrows: Readonly<Record<string, Arrow>>): Readonly<Record<string, readonly string[]>> {
  const known = indexes.get(arrows);
  if (known) return known;
  const found: Record<string, string[]> = {};
  for (const { id, source, target } of Object.values(arrows)) {
    for (const end of [source, target]) {
      const mine = found[end];
      if (mine) mine.push(id);
      else found[end] = [id];
    }
  }
  indexes.set(arrows, found);
  return found;
}

/** What the calls of some places come to: one that runs counts for more than what ended, and of that the latest. */
export function activityOf(places: Readonly<Record<string, PlaceCalls>>, ids: readonly string[]): Activity {
  let latest: ShownCall | undefined;
  for (const id of ids) {
    const calls = places[id];
    if (calls === undefined) continue;
    for (const _ in calls.running) return "running";
    const { ended } = calls;
    if (ended?.since !== undefined && (latest === undefined || (ended.ended_at ?? "") > (latest.ended_at ?? ""))) {
      latest = ended;
    }
  }
  return latest !== undefined && isBad(latest.status) ? "failed" : undefined;
}

interface Waiting {
  /** The cards that ask their user something, by the id of the question. */
  readonly cards: Readonly<Record<string, string>>;
}

const useWaiting = create<Waiting>()(() => ({ cards: {} }));

onMoments((moments: readonly Moment[]) => {
  let cards: Record<string, string> | undefined;
  for (const moment of moments) {
    if (moment.type === "reset") cards = {};
    if (moment.type !== "confirm" && moment.type !== "confirmed") continue;
    const { id, card } = moment as unknown as { readonly id: string; readonly card?: { readonly id: string } };
    cards ??= { ...useWaiting.getState().cards };
    if (card) cards[id] = card.id;
    else delete cards[id];
  }
  if (cards) useWaiting.setState({ cards });
});

/** How lively a card is. */
export function useActivity(card: string): Activity {
  const arrows = useBoard((state) => arrowsByCard(state.board.arrows)[card] ?? NONE);
  const isWaiting = useWaiting((state) => Object.values(state.cards).includes(card));
  const activity = useCalls((state) => activityOf(state.places, [...arrows, card]));
  return isWaiting ? "waiting" : activity;
}
