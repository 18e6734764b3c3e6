/** Which call is shown in full, and whether the panel of all calls is open: what several parts of the page decide. */

import { create } from "zustand";
import { useSelection } from "../board/selection.ts";

interface Opened {
  readonly call: string | undefined;
  readonly panel: boolean;
}

/** The key that opens and closes the panel. */
export const CALLS_KEY = "l";

export const useOpened = create<Opened>()(() => ({ call: undefined, panel: false }));

/** Show a call in the log of its arrow. */
export function openCall(arrow: string, call: string): void {
  useOpened.setState({ call });
  useSelection.getState().select({ kind: "arrow", id: arrow });
}

export function closeCall(): void {
  useOpened.setState({ call: undefined });
}

export function togglePanel(): void {
  useOpened.setState(({ panel }) => ({ panel: !panel }));
}
