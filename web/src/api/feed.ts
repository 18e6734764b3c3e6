/** What happens in a workspace, as the host tells it: one event stream, resumed by itself, with a word about its state. */

import type { Schemas } from "./client.ts";

export interface BoardChangeMoment {
  readonly type: "board";
  readonly workspace: Schemas["WorkspaceSummary"];
  readonly changes: readonly BoardChange[];
  readonly can_undo: boolean;
  readonly can_redo: boolean;
}

export type BoardChange =
  | { readonly change: "put_card"; readonly card: Schemas["BoardCard"] }
  | { readonly change: "remove_card"; readonly id: string }
  | { readonly change: "put_arrow"; readonly arrow: Schemas["BoardArrow"] }
  | { readonly change: "remove_arrow"; readonly id: string };

/** `asks`: a call to an agent waits for an answer of its owner. */
export type CallMoment = {
  readonly type: "call";
  readonly arrow: string;
  readonly asks?: boolean;
} & Schemas["ArrowCall"];

/** Any moment: rooms listen for the types that they know (see src/toolwire/canvas for who tells which). */
export type Moment =
  | BoardChangeMoment
  | CallMoment
  | { readonly type: "reset" }
  | { readonly type: "state"; readonly card: string; readonly state: string }
  | { readonly type: "wake"; readonly card: string; readonly package: string }
  | { readonly type: string; readonly [key: string]: unknown };

export type FeedState = "connecting" | "open" | "lost";

type Listener = (moment: Moment) => void;

const AGAIN_MS = [500, 1_000, 2_000, 5_000];

/** Follows one workspace until it is closed. */
export class Feed {
  private readonly url: string;
  private readonly onState: (state: FeedState) => void;
  private readonly listeners = new Set<Listener>();
  private source: EventSource | undefined;
  private timer: number | undefined;
  private failures = 0;

  constructor(workspace: string, onState: (state: FeedState) => void) {
    this.url = `/api/v1/workspaces/${encodeURIComponent(workspace)}/events`;
    this.onState = onState;
  }

  /** Hear every moment from now on; gives back how to stop that. */
  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  open(): void {
    this.onState("connecting");
    const source = new EventSource(this.url);
    this.source = source;
    source.onopen = () => {
      if (this.failures > 0) this.tell({ type: "reset" }); // a stream that began anew does not know what we have seen
      this.failures = 0;
      this.onState("open");
    };
    source.onmessage = (event) => this.tell(JSON.parse(event.data as string) as Moment);
    source.onerror = () => this.onError(source);
  }

  close(): void {
    window.clearTimeout(this.timer);
    this.source?.close();
    this.source = undefined;
  }

  private onError(source: EventSource): void {
    if (this.source !== source) return;
    this.onState("lost");
    if (source.readyState !== EventSource.CLOSED) return; // the browser tries again, with the id of the last event
    source.close();
    const wait = AGAIN_MS[Math.min(this.failures, AGAIN_MS.length - 1)];
    this.failures += 1;
    this.timer = window.setTimeout(() => this.open(), wait);
  }

  private tell(moment: Moment): void {
    for (const listener of [...this.listeners]) listener(moment);
  }
}
