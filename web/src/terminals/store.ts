/** How the terminals of the workspace do, as the feed and their own streams tell, by card. */

import { create } from "zustand";
import { onMoment } from "../board/store.ts";

export interface TerminalNews {
  /** "idle", "working" or "exited". */
  readonly status: string;
  readonly exitCode: number | null;
}

interface TerminalMoment {
  readonly card: string;
  readonly status: string;
  readonly exit_code: number | null;
}

interface TerminalsState {
  readonly cards: Readonly<Record<string, TerminalNews>>;
  /** The card whose terminal is shown in a window of its own. */
  readonly large: string | undefined;
  /** Whether screen readers are told what terminals print. */
  readonly forReaders: boolean;
}

const KEPT_AS = "toolwire.terminals.readers";

export const useTerminals = create<TerminalsState>()(() => ({
  cards: {},
  large: undefined,
  forReaders: localStorage.getItem(KEPT_AS) === "yes",
}));

export function showLarge(card: string | undefined): void {
  useTerminals.setState({ large: card });
}

export function readAloud(forReaders: boolean): void {
  localStorage.setItem(KEPT_AS, forReaders ? "yes" : "no");
  useTerminals.setState({ forReaders });
}

export function noteTerminal(card: string, news: TerminalNews): void {
  const known = useTerminals.getState().cards[card];
  if (known?.status === news.status && known.exitCode === news.exitCode) return;
  useTerminals.setState(({ cards }) => ({ cards: { ...cards, [card]: news } }));
}

onMoment((moment) => {
  if (moment.type === "reset") useTerminals.setState({ cards: {} });
  if (moment.type !== "terminal") return;
  const { card, status, exit_code } = moment as unknown as TerminalMoment;
  noteTerminal(card, { status, exitCode: exit_code });
});
