/** What stands on a board with nothing on it: three things to begin with. */

import { Bot, type LucideIcon, Puzzle, SquareTerminal } from "lucide-react";
import { add } from "../board/adding.ts";
import { openCards } from "../cards/dialogs.ts";
import { useText } from "../i18n/text.ts";
import "./board-start.css";
import { chooseOnly } from "./commands.ts";
import { placeForNew } from "./place.ts";

export function BoardStart() {
  const text = useText();
  return (
    <section className="board-start" aria-label={text("canvas.start.title")}>
      <h2>{text("canvas.start.title")}</h2>
      <p>{text("canvas.start.text")}</p>
      <ul>
        <Way icon={Bot} tone="kind-agent" name="agent" onChoose={() => void begin("agent")} />
        <Way icon={Puzzle} tone="kind-card" name="card" onChoose={() => openCards({ view: "packages" })} />
        <Way icon={SquareTerminal} tone="kind-terminal" name="terminal" onChoose={() => void begin("terminal")} />
      </ul>
    </section>
  );
}

interface WayProps {
  readonly icon: LucideIcon;
  readonly tone: string;
  readonly name: "agent" | "card" | "terminal";
  readonly onChoose: () => void;
}

function Way({ icon: Icon, tone, name, onChoose }: WayProps) {
  const text = useText();
  return (
    <li>
      <button type="button" className="board-start-way" onClick={onChoose}>
        <Icon aria-hidden size={22} className={tone} />
        <strong>{text(`canvas.start.${name}`)}</strong>
        <span>{text(`canvas.start.${name}.text`)}</span>
      </button>
    </li>
  );
}

async function begin(kind: "agent" | "terminal"): Promise<void> {
  const made = await add({ kind }, placeForNew(kind));
  if (made) chooseOnly([made]);
}
