/** An arrow of the board, with the label that tells its calls. */

import { BaseEdge, type EdgeProps } from "@xyflow/react";
import { memo } from "react";
import { createPortal } from "react-dom";
import { ArrowLabel, useFlows } from "../calls/ArrowLabel.tsx";
import { useCalls } from "../calls/store.ts";
import { arrowPath } from "./arrow-path.ts";
import { useIsReadable } from "./distance.ts";
import { useView } from "./view.ts";

export const ArrowLine = memo(function ArrowLine({ id, markerEnd, ...ends }: EdgeProps) {
  const hasCalls = useCalls((state) => state.places[id] !== undefined);
  const flows = useFlows(id);
  const { path, x, y } = arrowPath(ends);
  const isReadable = useIsReadable(x, y);
  const layer = useView((state) => state.labels);
  return (
    <>
      <BaseEdge id={id} path={path} interactionWidth={24} {...(markerEnd ? { markerEnd } : {})} />
      {flows ? <path className="arrow-flow" d={path} /> : null}
      {hasCalls && isReadable && layer
        ? createPortal(
            <div className="arrow-label-place" style={{ left: x, top: y }}>
              <ArrowLabel arrow={id} />
            </div>,
            layer,
          )
        : null}
    </>
  );
});
