/** What was asked for: the answer, or that it is on its way, or why there is none and a way to try again. */

import type { ReactNode } from "react";
import type { Asked } from "../api/useAsked.ts";
import { useText } from "../i18n/text.ts";
import { Button } from "./Button.tsx";
import { Failed, Waiting } from "./Empty.tsx";

interface AskedViewProps<T> {
  readonly asked: Asked<T>;
  readonly children: (data: T) => ReactNode;
}

export function AskedView<T>({ asked, children }: AskedViewProps<T>) {
  const text = useText();
  if (asked.problem !== undefined) {
    const again = <Button onClick={() => void asked.again()}>{text("ui.try_again")}</Button>;
    return <Failed message={asked.problem} again={again} />;
  }
  return asked.data === undefined ? <Waiting label={text("ui.loading")} /> : children(asked.data);
}
