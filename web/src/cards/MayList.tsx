/** What a card may do, and agents by way of it: the riskiest first, with why it wants that. */

import { useText } from "../i18n/text.ts";
import type { TextKey } from "../i18n/words.ts";
import { Badge, type Tone } from "../ui/Badge.tsx";
import "./may-list.css";
import type { CardPackage } from "./packages.ts";

type Risk = "low" | "medium" | "high";
type Asked = CardPackage["may"][number];

const TONES: Readonly<Record<Risk, Tone>> = { low: "neutral", medium: "warn", high: "bad" };
const RISKS: readonly Risk[] = ["high", "medium", "low"];

export function MayList({ known }: { readonly known: CardPackage }) {
  const text = useText();
  if (known.may.length === 0) return <p className="may-none">{text("cards.may_nothing")}</p>;
  return (
    <ul className="may-list">
      {known.may.map((one) => (
        <li key={one.id} className="may-row">
          <Badge tone={TONES[riskOf(one)]}>{text(`cards.risk.${riskOf(one)}`)}</Badge>
          <div>
            <p>
              {text(`cards.may.${one.id}` as TextKey, { hosts: one.hosts.join(", ") })}
              {one.optional ? <span className="may-optional"> · {text("cards.optional")}</span> : null}
            </p>
            {one.reason ? <p className="may-reason">{one.reason}</p> : null}
          </div>
        </li>
      ))}
    </ul>
  );
}

function riskOf(one: Asked): Risk {
  return RISKS.find((risk) => risk === one.risk) ?? "high";
}
