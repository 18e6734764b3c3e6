/** From how far the board is looked at, and what of it is in sight: what nobody can read or see need not be drawn. */

import { type ReactFlowState, useStore } from "@xyflow/react";

/** Below this zoom, cards show their names only and arrows no labels. */
const FAR = 0.35;
/** How far outside of the view a label still reaches in. */
const AROUND = 200;

export function useIsFar(): boolean {
  return useStore(isFar);
}

/** Whether a label at a point of the board can be seen and read. */
export function useIsReadable(x: number, y: number): boolean {
  return useStore((state) => {
    if (isFar(state)) return false;
    const [left, top, zoom] = state.transform;
    const [across, down] = [x * zoom + left, y * zoom + top];
    return across > -AROUND && across < state.width + AROUND && down > -AROUND && down < state.height + AROUND;
  });
}

function isFar(state: ReactFlowState): boolean {
  return state.transform[2] < FAR;
}
