/** The window about card packages that is open, if one is; its code comes with the first of them. */

import { lazy, Suspense } from "react";
import { useCardDialogs } from "./dialogs.ts";

const CardWindows = lazy(async () => ({ default: (await import("./CardWindows.tsx")).CardWindows }));

export function CardDialogs() {
  const shown = useCardDialogs((state) => state.shown);
  if (shown === undefined) return null;
  return (
    <Suspense fallback={null}>
      <CardWindows shown={shown} />
    </Suspense>
  );
}
