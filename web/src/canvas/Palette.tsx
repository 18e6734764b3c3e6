/** The palette: everything that can be put on the board, and what can be done with it; it opens with the list in view. */

import { PackagePlus } from "lucide-react";
import { api, ask } from "../api/client.ts";
import { useAsked } from "../api/useAsked.ts";
import { shownKeys } from "../app/shortcuts.ts";
import { type Addition, add } from "../board/adding.ts";
import { type Board, type Kind, obstacleOf, USUAL_SIZE } from "../board/model.ts";
import { useSelection } from "../board/selection.ts";
import { useBoard } from "../board/store.ts";
import { openCards } from "../cards/dialogs.ts";
import { type Text, useText } from "../i18n/text.ts";
import { type Choice, Picker } from "../ui/Picker.tsx";
import { iconOf } from "./command-icons.ts";
import { COMMANDS, chooseOnly } from "./commands.ts";
import { KIND_ICONS } from "./kinds.ts";
import { placeForNew } from "./place.ts";
import { openWindow, type Point, reveal, useView } from "./view.ts";

interface PaletteProps {
  readonly at: Point | undefined;
  readonly from: string | undefined;
}

interface Installed {
  readonly additions: readonly (Addition & { readonly name: string; readonly detail: string })[];
}

export function Palette({ at, from }: PaletteProps) {
  const text = useText();
  const board = useBoard((state) => state.board);
  const installed = useAsked("palette", readInstalled);
  const source = from === undefined ? undefined : board.cards[from];
  const put = (addition: Addition): void => void putThere(addition, at, from);
  const choices: Choice[] = [
    ...kindChoices(text, put),
    ...(installed.data?.additions ?? [])
      .filter(({ agent_id }) => agent_id === undefined || !isHere(board, agent_id))
      .map(({ name, detail, ...addition }) => choiceOf(text, addition, name, detail, put)),
  ];
  if (source) {
    const wired = choices.map((choice) => withObstacle(text, choice, source.kind));
    const hint = text("canvas.palette.from", { name: source.title });
    return <Picker title={text("canvas.palette.title")} hint={hint} choices={wired} onClose={close} />;
  }
  const ways = [...choices, installChoice(text, at)];
  const all = at === undefined ? [...ways, ...commandChoices(text)] : ways;
  return <Picker title={text("canvas.palette.title")} choices={all} onClose={close} />;
}

function close(): void {
  openWindow(undefined);
  useView.setState({ wiringFrom: undefined });
}

async function putThere(addition: Addition, at: Point | undefined, from: string | undefined): Promise<void> {
  const made = await add(addition, at ? around(at, addition.kind, from) : placeForNew(addition.kind), from);
  if (made === undefined) return;
  if (addition.kind === "note") {
    useSelection.getState().select({ kind: "card", id: made });
    useView.setState({ writing: made });
  } else chooseOnly([made]);
  if (at === undefined) reveal(made);
}

/** A new card has its middle where the pointer was; at the end of an arrow, the middle of its left side. */
function around(at: Point, kind: Kind, from: string | undefined): Point {
  const { width, height } = USUAL_SIZE[kind];
  return { x: Math.round(from === undefined ? at.x - width / 2 : at.x), y: Math.round(at.y - height / 2) };
}

const KINDS: readonly Kind[] = ["agent", "terminal", "note", "group"];

function kindChoices(text: Text, put: (addition: Addition) => void): readonly Choice[] {
  return KINDS.map((kind) => {
    const title = kind === "note" || kind === "group" ? text(`kind.${kind}`) : undefined;
    const addition = title ? { kind, title } : { kind };
    const name = text(`canvas.palette.${kind}` as "canvas.palette.agent");
    return choiceOf(text, addition, name, text(`canvas.palette.${kind}.detail` as "canvas.palette.agent.detail"), put);
  });
}

function choiceOf(
  text: Text,
  addition: Addition,
  name: string,
  detail: string,
  put: (addition: Addition) => void,
): Choice {
  const isOwn = addition.agent_id !== undefined;
  return {
    id: `${addition.kind}-${addition.package ?? addition.agent_id ?? "new"}`,
    section: text(isOwn ? "canvas.palette.agents" : addition.package ? "canvas.palette.cards" : "canvas.palette.add"),
    icon: KIND_ICONS[addition.kind],
    tone: `kind-${addition.kind}`,
    name,
    detail,
    run: () => put(addition),
  };
}

/** A card that is not there yet. */
function installChoice(text: Text, at: Point | undefined): Choice {
  return {
    id: "card-install",
    section: text("canvas.palette.cards"),
    icon: PackagePlus,
    tone: "kind-card",
    name: text("cards.install"),
    detail: text("cards.install_source"),
    run: () => openCards({ view: "install" }, at),
  };
}

function withObstacle(text: Text, choice: Choice, from: Kind): Choice {
  const kind = choice.id.slice(0, choice.id.indexOf("-")) as Kind;
  const obstacle = obstacleOf(from, kind);
  return obstacle ? { ...choice, obstacle: text(`canvas.obstacle.${obstacle}`) } : choice;
}

function commandChoices(text: Text): readonly Choice[] {
  return COMMANDS.filter((one) => one.id !== "add" && one.id !== "none" && one.isPossible()).map((one) => ({
    id: `do-${one.id}`,
    section: text("canvas.palette.do"),
    icon: iconOf(one.id),
    name: text(one.name),
    keys: shownKeys(one.keys[0] ?? ""),
    run: one.run,
  }));
}

/** What the owner has beside the board: packages that are consented to, and agents. */
async function readInstalled(): Promise<Installed> {
  const [{ packages }, agents] = await Promise.all([
    ask(api.GET("/api/v1/card-packages")),
    ask(api.GET("/api/v1/agents")),
  ]);
  return {
    additions: [
      ...packages
        .filter((one) => one.accepted_version !== null)
        .map((one) => ({
          kind: "card" as const,
          package: one.package,
          title: one.display_name,
          name: one.display_name,
          detail: one.description,
        })),
      ...agents.map((agent) => ({
        kind: "agent" as const,
        agent_id: agent.agent_id,
        name: agent.display_name || agent.name,
        detail: agent.description,
      })),
    ],
  };
}

function isHere(board: Board, agent: string): boolean {
  return Object.values(board.cards).some((card) => card.agent_id === agent);
}
