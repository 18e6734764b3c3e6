/** The agents that wait for an answer of their owner, on whatever board: read once, then as the feed of the board tells. */

import { create } from "zustand";
import { api, ask } from "../api/client.ts";
import type { CallMoment } from "../api/feed.ts";
import { onMoment, useBoard } from "../board/store.ts";

interface AskingState {
  /** The agent that waits, by the id of the call that it works on. */
  readonly calls: Readonly<Record<string, string>>;
}

const MOST = 100;

export const useAsking = create<AskingState>()(() => ({ calls: {} }));

/** Read who waits now; whoever begins to wait later is told of. */
export async function readAsking(): Promise<void> {
  try {
    const query = { status: ["input_required" as const], limit: MOST };
    const { calls } = await ask(api.GET("/api/v1/calls", { params: { query } }));
    useAsking.setState({ calls: Object.fromEntries(calls.map((call) => [call.call_id, call.agent_id ?? ""])) });
  } catch {
    return; // the page tells of a host that is away, and reads this again when it is back
  }
}

onMoment((moment) => {
  if (moment.type === "reset") void readAsking();
  if (moment.type !== "call") return;
  const { card, call_id, asks } = moment as CallMoment & { readonly card?: string };
  const { calls } = useAsking.getState();
  if (asks && card !== undefined && calls[call_id] === undefined) {
    const agent = useBoard.getState().board.cards[card]?.agent_id ?? "";
    useAsking.setState({ calls: { ...calls, [call_id]: agent } });
  }
  if (!asks && calls[call_id] !== undefined) {
    const { [call_id]: _, ...others } = calls;
    useAsking.setState({ calls: others });
  }
});
