/** What a card has written down, the newest first, and more as it comes. */

import { ScrollText } from "lucide-react";
import { useEffect, useState } from "react";
import { api, ask, type Schemas } from "../api/client.ts";
import { useAsked } from "../api/useAsked.ts";
import { here, onMoments } from "../board/store.ts";
import { useText } from "../i18n/text.ts";
import { AskedView } from "../ui/AskedView.tsx";
import { Empty } from "../ui/Empty.tsx";
import { SelectField } from "../ui/Field.tsx";
import { When } from "../ui/When.tsx";
import "./card-log.css";

type Line = Schemas["CardLines"]["lines"][number];

const LEVELS = ["debug", "info", "warn", "error"] as const;
const SHOWN = { debug: "cards.log_all", info: "cards.log_info", warn: "cards.log_warn" } as const;

async function readLines(card: string): Promise<readonly Line[]> {
  const path = { w: here(), c: card };
  return (await ask(api.GET("/api/v1/workspaces/{w}/cards/{c}/log", { params: { path } }))).lines;
}

export function CardLog({ card }: { readonly card: string }) {
  const text = useText();
  const asked = useAsked(`card-log:${card}`, () => readLines(card));
  const [least, setLeast] = useState<keyof typeof SHOWN>("info");
  const { again } = asked;
  useEffect(
    () =>
      onMoments((moments) => {
        if (moments.some((moment) => moment.type === "log" && "card" in moment && moment.card === card)) void again();
      }),
    [card, again],
  );
  return (
    <div className="card-log">
      <SelectField
        label={text("cards.log_level")}
        value={least}
        onChange={(event) => setLeast(event.target.value as keyof typeof SHOWN)}
      >
        {Object.entries(SHOWN).map(([level, key]) => (
          <option key={level} value={level}>
            {text(key)}
          </option>
        ))}
      </SelectField>
      <AskedView asked={asked}>
        {(lines) => (
          <Lines lines={lines.filter(({ level }) => LEVELS.indexOf(levelOf(level)) >= LEVELS.indexOf(least))} />
        )}
      </AskedView>
    </div>
  );
}

function Lines({ lines }: { readonly lines: readonly Line[] }) {
  const text = useText();
  if (lines.length === 0) {
    return (
      <Empty icon={ScrollText} title={text("cards.log_none")}>
        {text("cards.log_none_text")}
      </Empty>
    );
  }
  const keyed = lines.map((line, at) => ({ line, key: `${at}:${line.at}` })).reverse();
  return (
    <ol className="card-log-lines">
      {keyed.map(({ line, key }) => (
        <li key={key} className={`card-log-line card-log-${line.level}`}>
          <span className="card-log-head">
            <When at={line.at} />
            <span className="card-log-level">{text(`cards.level.${levelOf(line.level)}`)}</span>
          </span>
          <span className="card-log-text">{line.text}</span>
        </li>
      ))}
    </ol>
  );
}

function levelOf(level: string): (typeof LEVELS)[number] {
  return LEVELS.find((one) => one === level) ?? "info";
}
