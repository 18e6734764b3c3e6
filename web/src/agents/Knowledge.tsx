/** Says in a sentence whether an agent knows its tools: what it does not know, it cannot use. */

import { CircleAlert, CircleCheck, CircleDashed } from "lucide-react";
import { useEffect } from "react";
import { type Arrow, type Card, joins } from "../board/model.ts";
import { useBoard } from "../board/store.ts";
import { useLanguage, useText } from "../i18n/text.ts";
import { type ToolboxState, useToolboxes, wantToolboxes } from "./toolboxes.ts";
import "./agent-body.css";

export function Knowledge({ card }: { readonly card: Card }) {
  const text = useText();
  const language = useLanguage((state) => state.language);
  const workspace = useBoard((state) => state.workspace?.id);
  const toolbox = useToolboxes((state) => state.cards[card.id]);
  // One text, so that a board that changes elsewhere is no news here.
  const joined = useBoard(({ board }) => (toolbox ? namesOf(toolbox, card, board.arrows, board.cards).join("\n") : ""));
  // biome-ignore lint/correctness/useExhaustiveDependencies: another workspace has other toolboxes
  useEffect(() => {
    void wantToolboxes();
  }, [workspace]);
  if (toolbox === undefined) return null;
  const names = joined.split("\n").filter(Boolean);
  const { tool_count: n } = toolbox;
  const tools = n === 0 ? text("agents.no_tools") : text(n === 1 ? "agents.one_tool" : "agents.tools_count", { n });
  if (toolbox.is_known) return <Line tone="ok" icon={CircleCheck} words={text("agents.knows", { tools })} />;
  if (toolbox.listed_at === null) {
    return <Line tone="none" icon={CircleDashed} words={n === 0 ? tools : text("agents.never_read", { tools })} />;
  }
  const list = new Intl.ListFormat(language, { type: "conjunction" }).format(names);
  const why = names.length > 0 ? "agents.unseen" : "agents.unseen_change";
  return <Line tone="warn" icon={CircleAlert} words={text(why, { tools, names: list })} />;
}

interface LineProps {
  readonly tone: "ok" | "warn" | "none";
  readonly icon: typeof CircleCheck;
  readonly words: string;
}

function Line({ tone, icon: Icon, words }: LineProps) {
  return (
    <p className={`knowledge knowledge-${tone}`}>
      <Icon aria-hidden size={15} />
      <span>{words}</span>
    </p>
  );
}

/** The titles of the cards at the other ends of the arrows that the agent has not seen yet. */
export function namesOf(
  toolbox: ToolboxState,
  card: Card,
  arrows: Readonly<Record<string, Arrow>>,
  cards: Readonly<Record<string, Card>>,
): readonly string[] {
  const others = toolbox.unseen.flatMap((id) => {
    const arrow = arrows[id];
    if (arrow === undefined || !joins(arrow, card.id, arrow.source === card.id ? arrow.target : arrow.source))
      return [];
    return [cards[arrow.source === card.id ? arrow.target : arrow.source]?.title ?? ""];
  });
  return [...new Set(others.filter(Boolean))];
}
