/** Where arrows may begin and end on a card. React Flow is told, so that a card need not have all of them on the page. */

import { type NodeHandle, Position } from "@xyflow/react";

export const HANDLE_SIZE = 14;
const HALF = HANDLE_SIZE / 2;

export const SIDES = [Position.Left, Position.Right, Position.Top, Position.Bottom] as const;

export function handlesOf(width: number, height: number): NodeHandle[] {
  const [middle, centre] = [height / 2 - HALF, width / 2 - HALF];
  const places = {
    [Position.Left]: { x: -HALF, y: middle },
    [Position.Right]: { x: width - HALF, y: middle },
    [Position.Top]: { x: centre, y: -HALF },
    [Position.Bottom]: { x: centre, y: height - HALF },
  };
  return SIDES.map((side) => ({
    id: side,
    type: "source",
    position: side,
    width: HANDLE_SIZE,
    height: HANDLE_SIZE,
    ...places[side],
  }));
}
