/** Where the labels of all arrows are drawn: above the cards, and moved with the board. */

import { ViewportPortal } from "@xyflow/react";
import { memo } from "react";
import { useView } from "./view.ts";

export const LabelLayer = memo(function LabelLayer() {
  return (
    <ViewportPortal>
      <div className="label-layer" ref={keep} />
    </ViewportPortal>
  );
});

/** The same function each time: a new one would take the layer away and give it back. */
function keep(layer: HTMLElement | null): void {
  useView.setState({ labels: layer ?? undefined });
}
