/** An arrow of the board, with the label that tells its calls. */

import { BaseEdge, EdgeLabelRenderer, type EdgeProps, getBezierPath } from "@xyflow/react";
import { memo } from "react";
import { ArrowLabel } from "../calls/ArrowLabel.tsx";

export const ArrowLine = memo(function ArrowLine({ id, markerEnd, ...ends }: EdgeProps) {
  const [path, x, y] = getBezierPath(ends);
  return (
    <>
      <BaseEdge id={id} path={path} {...(markerEnd ? { markerEnd } : {})} />
      <EdgeLabelRenderer>
        <div className="arrow-label-place" style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}>
          <ArrowLabel arrow={id} />
        </div>
      </EdgeLabelRenderer>
    </>
  );
});
