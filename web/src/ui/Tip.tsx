/** A short text beside what the pointer or the focus is on. It repeats the element's name, so it is hidden from readers. */

import { Tooltip } from "radix-ui";
import type { ReactElement } from "react";
import "./tip.css";

interface TipProps {
  readonly text: string;
  readonly side?: "top" | "right" | "bottom" | "left";
  readonly children: ReactElement;
}

export function Tip({ text, side = "bottom", children }: TipProps) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content className="tip" side={side} sideOffset={6} aria-hidden>
          {text}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}

export const TipProvider = Tooltip.Provider;
