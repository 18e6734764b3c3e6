/** Where an arrow leaves one card and meets another: at the middles of the sides that face each other. */

import { getBezierPath, Position } from "@xyflow/react";
import { HANDLE_SIZE } from "./handles.ts";

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface Ends {
  readonly sourceX: number;
  readonly sourceY: number;
  readonly sourcePosition: Position;
  readonly targetX: number;
  readonly targetY: number;
  readonly targetPosition: Position;
}

interface Drawn {
  readonly path: string;
  /** The middle, where the label is. */
  readonly x: number;
  readonly y: number;
}

/** React Flow lets an edge end at the outside of a handle; an arrow starts and ends at the card, half a handle nearer. */
const HALF_HANDLE = HANDLE_SIZE / 2;
/** Room for the arrow's head. */
const HEAD = 3;

export function arrowPath({ sourceX, sourceY, sourcePosition, targetX, targetY, targetPosition }: Ends): Drawn {
  const start = nearer(sourceX, sourceY, sourcePosition, HALF_HANDLE);
  const end = nearer(targetX, targetY, targetPosition, HALF_HANDLE - HEAD);
  const [path, x, y] = getBezierPath({
    sourceX: start.x,
    sourceY: start.y,
    sourcePosition,
    targetX: end.x,
    targetY: end.y,
    targetPosition,
  });
  return { path, x, y };
}

/** The sides that face each other: the left and right ones, unless the cards stand above one another. */
export function sides(from: Box, to: Box): readonly [Position, Position] {
  const across = gap(from.x, from.width, to.x, to.width);
  const down = gap(from.y, from.height, to.y, to.height);
  if (across >= 0 || across >= down) {
    return from.x + from.width / 2 <= to.x + to.width / 2
      ? [Position.Right, Position.Left]
      : [Position.Left, Position.Right];
  }
  return from.y < to.y ? [Position.Bottom, Position.Top] : [Position.Top, Position.Bottom];
}

/** How far apart two stretches are; below zero where they overlap. */
function gap(one: number, oneSize: number, other: number, otherSize: number): number {
  return Math.max(other - (one + oneSize), one - (other + otherSize));
}

function nearer(x: number, y: number, side: Position, by: number): { readonly x: number; readonly y: number } {
  switch (side) {
    case Position.Left:
      return { x: x + by, y };
    case Position.Right:
      return { x: x - by, y };
    case Position.Top:
      return { x, y: y + by };
    default:
      return { x, y: y - by };
  }
}
