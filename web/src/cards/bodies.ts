/** Where in its card on the board each card's page belongs, as the board lays it out; in the board's own pixels. */

import { type RefObject, useLayoutEffect } from "react";
import { create } from "zustand";
import type { Rect } from "./sleep.ts";

interface BodiesState {
  readonly bodies: Readonly<Record<string, Rect>>;
}

export const useBodies = create<BodiesState>()(() => ({ bodies: {} }));

/** Keep it known where `element` is in its node, as long as it is shown. */
export function useMeasured(card: string, element: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const body = element.current;
    if (body === null) return;
    const measure = (): void => {
      const rect = rectIn(body);
      if (rect.width > 0) useBodies.setState(({ bodies }) => ({ bodies: { ...bodies, [card]: rect } }));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(body);
    measure();
    return () => observer.disconnect();
  }, [card, element]);
}

function rectIn(body: HTMLElement): Rect {
  let [x, y] = [0, 0];
  let at: HTMLElement | null = body;
  while (at !== null && !at.classList.contains("react-flow__node")) {
    x += at.offsetLeft + (at === body ? 0 : at.clientLeft);
    y += at.offsetTop + (at === body ? 0 : at.clientTop);
    at = at.offsetParent as HTMLElement | null;
  }
  return { x, y, width: body.offsetWidth, height: body.offsetHeight };
}
