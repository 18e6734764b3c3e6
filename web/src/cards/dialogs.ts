/** Which of the windows about card packages is open; anybody may open one. */

import { create } from "zustand";
import type { CardPackage } from "./packages.ts";

export interface Place {
  readonly x: number;
  readonly y: number;
}

export type CardsView =
  | { readonly view: "packages" }
  | { readonly view: "install" }
  | { readonly view: "consent"; readonly package: CardPackage };

interface DialogState {
  readonly shown: CardsView | undefined;
  /** Where the card that is chosen or installed will stand; the board finds a place where none is named. */
  readonly place: Place | undefined;
}

export const useCardDialogs = create<DialogState>()(() => ({ shown: undefined, place: undefined }));

/** Open a window; `place` is kept from one window to the next until all are closed. */
export function openCards(shown: CardsView, place = useCardDialogs.getState().place): void {
  useCardDialogs.setState({ shown, place });
}

export function closeCards(): void {
  useCardDialogs.setState({ shown: undefined, place: undefined });
}
