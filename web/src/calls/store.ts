/**
 * The calls of the workspace that is shown, as the feed tells them: for each arrow and each agent's card those that run
 * and the one that ended last, and the latest of all. Moments are taken by frames, so a hundred calls a second are one
 * change of each label a frame, and of nothing else.
 */

import { create } from "zustand";
import { api, ask, type Schemas } from "../api/client.ts";
import type { CallMoment, Moment } from "../api/feed.ts";
import { onMoments, useBoard } from "../board/store.ts";

export interface ShownCall extends Omit<CallMoment, "type" | "arrow"> {
  /** The arrow it goes through; a call by way of the gateway shows on an agent's `card` instead. */
  readonly arrow: string | undefined;
  readonly card: string | undefined;
  /** When this page saw it begin, by its own clock; `undefined` for calls that ended before. */
  readonly since: number | undefined;
}

export interface PlaceCalls {
  /** By call id, the oldest first. */
  readonly running: Readonly<Record<string, ShownCall>>;
  readonly ended: ShownCall | undefined;
}

interface CallsState {
  /** By the id of an arrow, or of an agent's card. */
  readonly places: Readonly<Record<string, PlaceCalls>>;
  /** The latest calls of all, by id, in the order in which they began. */
  readonly latest: ReadonlyMap<string, ShownCall>;
}

export const MOST_LATEST = 400;

const NONE: PlaceCalls = { running: {}, ended: undefined };

export const useCalls = create<CallsState>()(() => ({ places: {}, latest: new Map() }));

/** The calls of a place after one of them has changed. */
export function after(calls: PlaceCalls, call: ShownCall): PlaceCalls {
  if (call.status === "running") return { ...calls, running: { ...calls.running, [call.call_id]: call } };
  const { [call.call_id]: ended, ...running } = calls.running;
  return { running, ended: { ...call, since: ended?.since ?? call.since } };
}

/** What a moment of the feed says of a call. */
export function shownOf(moment: CallMoment, now: number, known: ShownCall | undefined): ShownCall {
  const { type: _, arrow, ...call } = moment;
  const { card } = moment as { readonly card?: string };
  return { ...call, arrow, card, since: known?.since ?? now };
}

/** The state after calls, in the order in which they were told. */
export function taken(state: CallsState, calls: readonly ShownCall[]): CallsState {
  const places = { ...state.places };
  const latest = new Map(state.latest);
  for (const call of calls) {
    const place = call.arrow ?? call.card;
    if (place === undefined) continue;
    places[place] = after(places[place] ?? NONE, call);
    latest.set(call.call_id, call);
  }
  for (const id of latest.keys()) {
    if (latest.size <= MOST_LATEST) break;
    latest.delete(id);
  }
  return { places, latest };
}

onMoments((moments: readonly Moment[]) => {
  if (moments.some((moment) => moment.type === "reset")) {
    const { workspace } = useBoard.getState();
    if (workspace) readCalls(workspace.id).catch(() => undefined);
  }
  take(moments.filter((moment): moment is CallMoment => moment.type === "call"));
});

/** Calls that have just begun: one that ends before it is seen to run changes labels and rings once, not twice. */
const begun = new Map<string, ShownCall>();
const UNSEEN_MS = 120;
let timer: number | undefined;

function take(moments: readonly CallMoment[]): void {
  if (moments.length === 0) return;
  const { latest } = useCalls.getState();
  const now = Date.now();
  const told: ShownCall[] = [];
  for (const moment of moments) {
    const call = shownOf(moment, now, begun.get(moment.call_id) ?? latest.get(moment.call_id));
    const isNew = call.status === "running" && !call.progress && !latest.has(call.call_id);
    if (isNew) begun.set(call.call_id, call);
    else {
      begun.delete(call.call_id);
      told.push(call);
    }
  }
  if (begun.size > 0 && timer === undefined) timer = window.setTimeout(showBegun, UNSEEN_MS);
  if (told.length > 0) useCalls.setState((state) => taken(state, told));
}

function showBegun(): void {
  const before = Date.now() - UNSEEN_MS + 20;
  const due = [...begun.values()].filter((call) => (call.since ?? 0) <= before);
  for (const call of due) begun.delete(call.call_id);
  timer = begun.size > 0 ? window.setTimeout(showBegun, UNSEEN_MS) : undefined;
  if (due.length > 0) useCalls.setState((state) => taken(state, due));
}

/** Begin with what the host knows of a workspace: its latest calls, and those that run. */
export async function readCalls(workspace: string): Promise<void> {
  const path = { w: workspace };
  const askedAt = Date.now();
  const asked = api.GET("/api/v1/workspaces/{w}/calls", { params: { path, query: { limit: 200 } } });
  const { calls } = await ask(asked);
  if (useBoard.getState().workspace?.id !== workspace) return;
  useCalls.setState(({ latest }) => {
    const known = new Set(calls.map((call) => call.call_id));
    const newer = [...latest.values()].filter((call) => !known.has(call.call_id) && isKept(call, askedAt));
    return taken({ places: {}, latest: new Map() }, [...calls.map((call) => readAs(call, latest)), ...newer]);
  });
}

/** Whether a call that was not read is one all the same: it came since, or by way of the gateway. */
function isKept(call: ShownCall, askedAt: number): boolean {
  return (call.since ?? 0) >= askedAt || (call.card !== undefined && call.status !== "running");
}

/** A call as it was read; what the feed has told meanwhile counts for more. */
function readAs(call: Schemas["WorkspaceCall"], latest: ReadonlyMap<string, ShownCall>): ShownCall {
  const told = latest.get(call.call_id);
  if (told !== undefined && (told.status !== "running" || call.status === "running")) return told;
  const since = call.status === "running" ? Date.parse(call.started_at) : undefined;
  return { ...call, card: undefined, since };
}

let shown: string | undefined;

useBoard.subscribe(({ workspace }) => {
  if (workspace === undefined || workspace.id === shown) return;
  shown = workspace.id;
  begun.clear();
  useCalls.setState({ places: {}, latest: new Map() });
  readCalls(workspace.id).catch(() => undefined); // the feed tells whatever comes
});

/** How long a call took or has taken by now, in milliseconds. */
export function durationOf(call: ShownCall | Schemas["ArrowCall"], now: number): number {
  if (call.ended_at) return Math.max(0, Date.parse(call.ended_at) - Date.parse(call.started_at));
  const since = "since" in call ? call.since : undefined;
  return Math.max(0, now - (since ?? Date.parse(call.started_at)));
}

/** Whether a call ended other than well. */
export function isBad(status: string): boolean {
  return status === "error" || status === "timeout" || status === "denied";
}
