/** Says what the ring around a card shows, for those who do not see it. */

import { useText } from "../i18n/text.ts";
import type { Activity } from "./activity.ts";

export function ActivityWords({ activity }: { readonly activity: Activity }) {
  const text = useText();
  return activity === undefined ? null : <span className="visually-hidden">{text(`calls.activity.${activity}`)}</span>;
}
