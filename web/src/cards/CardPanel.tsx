/** The details of a copy of a package: how it does, its tools, its log, and what can be set. */

import { RotateCw } from "lucide-react";
import { useState } from "react";
import type { Card } from "../board/model.ts";
import { changeCard } from "../board/store.ts";
import { useText } from "../i18n/text.ts";
import { Badge, type Tone } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { TextField } from "../ui/Field.tsx";
import { Tabs } from "../ui/Tabs.tsx";
import { CardLog } from "./CardLog.tsx";
import { CardSettingsForm } from "./CardSettingsForm.tsx";
import "./card-panel.css";
import { openCards } from "./dialogs.ts";
import { type Phase, startCard, useLife } from "./living.ts";
import { MayList } from "./MayList.tsx";
import { type CardPackage, usePackage } from "./packages.ts";
import { ToolList } from "./ToolList.tsx";

const TONES: Readonly<Record<Phase, Tone>> = {
  asleep: "neutral",
  starting: "info",
  awake: "ok",
  lost: "warn",
  stuck: "warn",
  elsewhere: "neutral",
  failed: "bad",
};

export function CardPanel({ card }: { readonly card: Card }) {
  const text = useText();
  const known = usePackage(card.package);
  if (known === undefined) return <p className="card-panel-note">{text("cards.gone_text")}</p>;
  const tabs = [
    { id: "tools", label: text("cards.tools"), content: <ToolList tools={known.tools} /> },
    { id: "log", label: text("cards.log"), content: <CardLog card={card.id} /> },
    { id: "settings", label: text("cards.settings"), content: <CardSettings card={card} known={known} /> },
  ];
  return (
    <div className="card-panel">
      <CardState card={card} known={known} />
      {known.status === "consent_required" ? (
        <p className="card-panel-update">
          {text("cards.update_waits", { version: known.version })}
          <Button small onClick={() => openCards({ view: "consent", package: known })}>
            {text("cards.review")}
          </Button>
        </p>
      ) : null}
      <Tabs label={text("cards.panel")} tabs={tabs} />
    </div>
  );
}

function CardState({ card, known }: { readonly card: Card; readonly known: CardPackage }) {
  const text = useText();
  const { phase, why } = useLife(card.id);
  if (known.program) {
    const isAwake = card.state === "awake";
    return (
      <Badge tone={isAwake ? "ok" : "neutral"}>{text(isAwake ? "cards.program_awake" : "cards.program_paused")}</Badge>
    );
  }
  return (
    <div className="card-panel-state">
      <Badge tone={TONES[phase]}>{text(`cards.phase.${phase}`)}</Badge>
      <Button small icon={RotateCw} onClick={() => startCard(card.id)}>
        {text(phase === "elsewhere" ? "cards.take_over" : "cards.reload")}
      </Button>
      {why ? <p className="card-panel-why">{why}</p> : null}
    </div>
  );
}

function CardSettings({ card, known }: { readonly card: Card; readonly known: CardPackage }) {
  const text = useText();
  const [title, setTitle] = useState(card.title);
  const save = (): void => {
    const wanted = title.trim();
    if (wanted && wanted !== card.title) void changeCard(card.id, { title: wanted });
    else setTitle(card.title);
  };
  return (
    <div className="card-settings">
      <TextField
        label={text("cards.name")}
        hint={text("cards.name_hint")}
        value={title}
        maxLength={100}
        onChange={(event) => setTitle(event.target.value)}
        onBlur={save}
        onKeyDown={(event) => (event.key === "Enter" ? save() : undefined)}
      />
      <CardSettingsForm card={card.id} />
      <h3>{text("cards.may")}</h3>
      <MayList known={known} />
      <h3>{text("cards.package")}</h3>
      <p>
        {known.display_name} {known.accepted_version ?? known.version},{" "}
        {known.author ? text("cards.by", { author: known.author }) : text("cards.by_unknown")}
      </p>
      <code className="card-settings-source">{known.source}</code>
    </div>
  );
}
