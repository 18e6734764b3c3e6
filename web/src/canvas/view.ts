/** How the board is looked at just now: React Flow's handle on it, the window that is open above it, an arrow in the making. */

import type { ReactFlowInstance } from "@xyflow/react";
import { create } from "zustand";

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Windows above the board. */
export type Window =
  | { readonly is: "palette"; readonly at?: Point; readonly from?: string }
  | { readonly is: "wire"; readonly from: string; readonly arrow?: string }
  | { readonly is: "rename"; readonly card: string }
  | { readonly is: "shortcuts" };

interface ViewState {
  readonly flow: ReactFlowInstance | undefined;
  readonly window: Window | undefined;
  /** The card that an arrow is being drawn from. */
  readonly wiringFrom: string | undefined;
  /** The arrow that is being led to another card. */
  readonly leading: string | undefined;
  /** The element that labels of arrows are in. */
  readonly labels: HTMLElement | undefined;
  /** The note that is being written. */
  readonly writing: string | undefined;
}

export const useView = create<ViewState>()(() => ({
  flow: undefined,
  window: undefined,
  wiringFrom: undefined,
  leading: undefined,
  labels: undefined,
  writing: undefined,
}));

export function openWindow(window: Window | undefined): void {
  useView.setState({ window });
}

export function openPalette(from: { readonly at?: Point; readonly from?: string } = {}): void {
  openWindow({ is: "palette", ...from });
}

/** The middle of what is seen of the board. */
export function middleOfView(): Point {
  const { flow } = useView.getState();
  const pane = document.querySelector(".board-view")?.getBoundingClientRect();
  if (flow === undefined || pane === undefined) return { x: 0, y: 0 };
  return flow.screenToFlowPosition({ x: pane.left + pane.width / 2, y: pane.top + pane.height / 2 });
}

const FIT = { maxZoom: 1, padding: 0.15, duration: 200 };

/** Show all of the board, or the cards of those ids. */
export function bringIntoView(ids: readonly string[] = []): void {
  const { flow } = useView.getState();
  void flow?.fitView(ids.length > 0 ? { ...FIT, nodes: ids.map((id) => ({ id })) } : FIT);
}

/** Put the focus on a card, as if it had been reached by keys. */
export function focusCard(id: string): void {
  window.requestAnimationFrame(() => {
    document.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`)?.focus();
  });
}

/** Move the view to a card that is out of sight, wholly or in part. */
export function reveal(id: string): void {
  window.setTimeout(() => {
    const { flow } = useView.getState();
    const pane = document.querySelector(".board-view")?.getBoundingClientRect();
    const card = document.querySelector(`.react-flow__node[data-id="${CSS.escape(id)}"]`)?.getBoundingClientRect();
    if (flow === undefined || pane === undefined || card === undefined) return;
    const isSeen =
      card.left >= pane.left && card.right <= pane.right && card.top >= pane.top && card.bottom <= pane.bottom;
    if (isSeen) return;
    const middle = flow.screenToFlowPosition({ x: card.left + card.width / 2, y: card.top + card.height / 2 });
    void flow.setCenter(middle.x, middle.y, { zoom: flow.getZoom(), duration: 200 });
  }, SETTLED_MS);
}

/** By then the card and its details are on the page. */
const SETTLED_MS = 80;
