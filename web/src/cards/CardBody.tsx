/** What a copy of a package shows on the board where its page is not: that it sleeps, runs elsewhere, or has stopped. */

import type { LucideIcon } from "lucide-react";
import { AppWindow, Cpu, Moon, PackageX, TriangleAlert } from "lucide-react";
import { type ReactNode, useRef } from "react";
import type { Card } from "../board/model.ts";
import { useText } from "../i18n/text.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Waiting } from "../ui/Empty.tsx";
import { useMeasured } from "./bodies.ts";
import "./card-body.css";
import { startCard, useLife } from "./living.ts";
import { type CardPackage, usePackage, usePackages } from "./packages.ts";

export function CardBody({ card }: { readonly card: Card }) {
  const place = useRef<HTMLDivElement>(null);
  const isRead = usePackages((state) => state.all !== undefined);
  const known = usePackage(card.package);
  useMeasured(card.id, place);
  return (
    <div ref={place} className="card-body">
      {isRead ? <Shown card={card} known={known} /> : null}
    </div>
  );
}

function Shown({ card, known }: { readonly card: Card; readonly known: CardPackage | undefined }) {
  const text = useText();
  if (known === undefined) {
    return <Said icon={PackageX} title={text("cards.gone")} words={text("cards.gone_text")} />;
  }
  return known.program ? <Program card={card} known={known} /> : <Page card={card} />;
}

function Program({ card, known }: { readonly card: Card; readonly known: CardPackage }) {
  const text = useText();
  const state = card.state === "awake" ? "cards.program_awake" : "cards.program_paused";
  return (
    <div className="card-program">
      <p className="card-program-head">
        <Cpu aria-hidden size={16} />
        {text("cards.program")}
      </p>
      <Badge tone={card.state === "awake" ? "ok" : "neutral"}>{text(state)}</Badge>
      <ul className="card-program-tools">
        {known.tools.map((tool) => (
          <li key={tool.name}>
            <code>{tool.exposed_name}</code>
            {tool.title ? ` · ${tool.title}` : ""}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Page({ card }: { readonly card: Card }) {
  const text = useText();
  const { phase, why } = useLife(card.id);
  const start = (label: string): ReactNode => (
    <Button small className="nodrag" onClick={() => startCard(card.id)}>
      {label}
    </Button>
  );
  switch (phase) {
    case "asleep":
      return (
        <Said
          icon={Moon}
          title={text("cards.asleep")}
          words={text("cards.asleep_text")}
          action={start(text("cards.wake"))}
        />
      );
    case "elsewhere":
      return (
        <Said
          icon={AppWindow}
          title={text("cards.elsewhere")}
          words={text("cards.elsewhere_text")}
          action={start(text("cards.take_over"))}
        />
      );
    case "failed":
      return (
        <Said icon={TriangleAlert} title={text("cards.failed")} words={why} action={start(text("cards.start_again"))} />
      );
    default:
      return <Waiting label={text("cards.starting")} />;
  }
}

interface SaidProps {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly words: string;
  readonly action?: ReactNode;
}

function Said({ icon: Icon, title, words, action }: SaidProps) {
  return (
    <div className="card-said">
      <Icon aria-hidden size={22} strokeWidth={1.5} />
      <p className="card-said-title">{title}</p>
      <p className="card-said-words">{words}</p>
      {action}
    </div>
  );
}
