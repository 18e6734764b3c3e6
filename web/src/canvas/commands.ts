/** What can be done on a board, by name and by keys: buttons, menus and the keyboard all come here. */

import { type Clip, clipOf, copies, moveTo } from "../board/clip.ts";
import type { Wanted } from "../board/edits.ts";
import { groupAround, membersOf, withMembers } from "../board/groups.ts";
import { useSelection } from "../board/selection.ts";
import { editBoard, step, useBoard } from "../board/store.ts";
import { tidied } from "../board/tidy.ts";
import { CALLS_KEY, togglePanel } from "../calls/opened.ts";
import { text } from "../i18n/text.ts";
import type { TextKey } from "../i18n/words.ts";
import { showToast } from "../ui/toasts.ts";
import { keep, kept } from "./clipboard.ts";
import { bringIntoView, focusCard, middleOfView, openPalette, openWindow, useView } from "./view.ts";

export interface Command {
  readonly id: string;
  readonly name: TextKey;
  readonly keys: readonly string[];
  readonly isPossible: () => boolean;
  readonly run: () => void;
}

const BESIDE = { x: 36, y: 36 };

const cards = (): readonly string[] => useSelection.getState().cards;
const arrows = (): readonly string[] => useSelection.getState().arrows;
const always = (): boolean => true;
const someCards = (): boolean => cards().length > 0;
const someChosen = (): boolean => someCards() || arrows().length > 0;
const oneCard = (): boolean => cards().length === 1 && arrows().length === 0;
const anyCards = (): boolean => Object.keys(useBoard.getState().board.cards).length > 0;

export const COMMANDS: readonly Command[] = [
  { id: "add", name: "canvas.do.add", keys: ["mod+k", "a"], isPossible: always, run: () => openPalette() },
  { id: "wire", name: "canvas.do.wire", keys: ["w"], isPossible: canWire, run: wire },
  { id: "open", name: "canvas.do.write", keys: ["enter"], isPossible: isNote, run: write },
  { id: "rename", name: "canvas.do.rename", keys: ["f2"], isPossible: oneCard, run: rename },
  { id: "undo", name: "canvas.undo", keys: ["mod+z"], isPossible: canUndo, run: () => void step("undo") },
  {
    id: "redo",
    name: "canvas.redo",
    keys: ["mod+shift+z", "mod+y"],
    isPossible: canRedo,
    run: () => void step("redo"),
  },
  { id: "copy", name: "canvas.do.copy", keys: ["mod+c"], isPossible: someCards, run: () => void copy() },
  { id: "cut", name: "canvas.do.cut", keys: ["mod+x"], isPossible: someCards, run: cut },
  {
    id: "paste",
    name: "canvas.do.paste",
    keys: ["mod+v"],
    isPossible: () => kept() !== undefined,
    run: () => void paste(),
  },
  { id: "duplicate", name: "canvas.do.duplicate", keys: ["mod+d"], isPossible: someCards, run: () => void duplicate() },
  { id: "remove", name: "canvas.do.remove", keys: ["delete"], isPossible: someChosen, run: () => void remove() },
  { id: "all", name: "canvas.do.all", keys: ["mod+a"], isPossible: anyCards, run: chooseAll },
  { id: "none", name: "canvas.do.none", keys: ["escape"], isPossible: someChosen, run: () => chooseOnly([]) },
  { id: "group", name: "canvas.do.group", keys: ["mod+g"], isPossible: someCards, run: () => void group() },
  { id: "ungroup", name: "canvas.do.ungroup", keys: ["mod+shift+g"], isPossible: hasGroup, run: () => void ungroup() },
  { id: "tidy", name: "canvas.do.tidy", keys: ["t"], isPossible: anyCards, run: () => void tidy() },
  { id: "fit", name: "canvas.do.fit", keys: ["f"], isPossible: anyCards, run: () => bringIntoView(cards()) },
  { id: "nearer", name: "canvas.do.nearer", keys: ["+", "="], isPossible: anyCards, run: () => zoom("in") },
  { id: "farther", name: "canvas.do.farther", keys: ["-"], isPossible: anyCards, run: () => zoom("out") },
  { id: "calls", name: "calls.all.toggle", keys: [CALLS_KEY], isPossible: always, run: togglePanel },
  { id: "help", name: "canvas.do.help", keys: ["?"], isPossible: always, run: () => openWindow({ is: "shortcuts" }) },
];

export function command(id: string): Command {
  const found = COMMANDS.find((one) => one.id === id);
  if (found === undefined) throw new Error(`there is no command ${id}`);
  return found;
}

/** Choose these cards and nothing else; a single one gets the focus. */
export function chooseOnly(ids: readonly string[]): void {
  useSelection.getState().choose({ cards: ids, arrows: [] });
  const [only] = ids;
  if (ids.length === 1 && only !== undefined) focusCard(only);
}

/** What is chosen, and with a group what is in it. */
function chosenClip(): Clip {
  const { board } = useBoard.getState();
  return clipOf(board, withMembers(board, cards()));
}

export async function copy(): Promise<void> {
  const clip = chosenClip();
  await keep(clip);
  showToast({ tone: "info", text: text("canvas.copied", { count: clip.cards.length }) });
}

/** Add what was copied last, in the middle of what is seen. */
export async function paste(): Promise<void> {
  const clip = kept();
  if (clip) await addCopies(copies(clip, moveTo(clip, middleOfView())));
}

export async function addCopies(changes: readonly Wanted[]): Promise<void> {
  const edited = await editBoard(changes);
  if (edited === undefined) return;
  const made = new Set(Object.values(edited.ids));
  chooseOnly(edited.cards.map((card) => card.id).filter((id) => made.has(id)));
}

function cut(): void {
  const { board } = useBoard.getState();
  useSelection.getState().choose({ cards: withMembers(board, cards()), arrows: arrows() });
  void copy().then(remove);
}

async function duplicate(): Promise<void> {
  await addCopies(copies(chosenClip(), BESIDE));
}

export async function remove(): Promise<void> {
  const { board } = useBoard.getState();
  const going = new Set(cards());
  const loose = arrows().filter((id) => {
    const arrow = board.arrows[id];
    return arrow !== undefined && !going.has(arrow.source) && !going.has(arrow.target);
  });
  chooseOnly([]);
  await editBoard([
    ...loose.map((id) => ({ change: "remove_arrow" as const, id })),
    ...[...going].filter((id) => board.cards[id]).map((id) => ({ change: "remove_card" as const, id })),
  ]);
}

/** Put a frame around what is chosen. */
async function group(): Promise<void> {
  const { board } = useBoard.getState();
  const chosen = cards().flatMap((id) => board.cards[id] ?? []);
  if (chosen.length === 0) return;
  const title = text("kind.group");
  const edited = await editBoard([{ change: "add_card", ref: "new", kind: "group", title, ...groupAround(chosen) }]);
  const made = edited?.ids.new;
  if (made) chooseOnly([made]);
}

/** Take the frame away, and keep what is in it. */
async function ungroup(): Promise<void> {
  const { board } = useBoard.getState();
  const groups = cards()
    .flatMap((id) => board.cards[id] ?? [])
    .filter((card) => card.kind === "group");
  const members = groups.flatMap((one) => membersOf(board, one).map((card) => card.id));
  await editBoard(groups.map(({ id }) => ({ change: "remove_card" as const, id })));
  chooseOnly(members);
}

/** Lay out what is chosen, or everything. */
async function tidy(): Promise<void> {
  const { board } = useBoard.getState();
  const only = cards().length > 1 ? cards() : [];
  await editBoard(await tidied(board, only));
  window.requestAnimationFrame(() => bringIntoView(only));
}

function wire(): void {
  const { board } = useBoard.getState();
  const [card] = cards();
  const arrow = board.arrows[arrows()[0] ?? ""];
  if (card !== undefined) openWindow({ is: "wire", from: card });
  else if (arrow) openWindow({ is: "wire", from: arrow.source, arrow: arrow.id });
}

function rename(): void {
  const [card] = cards();
  if (card !== undefined) openWindow({ is: "rename", card });
}

function write(): void {
  useView.setState({ writing: cards()[0] });
}

function canWire(): boolean {
  const kind = useBoard.getState().board.cards[cards()[0] ?? ""]?.kind;
  return cards().length + arrows().length === 1 && kind !== "group";
}

function isNote(): boolean {
  return oneCard() && useBoard.getState().board.cards[cards()[0] ?? ""]?.kind === "note";
}

function hasGroup(): boolean {
  const { board } = useBoard.getState();
  return cards().some((id) => board.cards[id]?.kind === "group");
}

function canUndo(): boolean {
  return useBoard.getState().canUndo;
}

function canRedo(): boolean {
  return useBoard.getState().canRedo;
}

function chooseAll(): void {
  const { board } = useBoard.getState();
  useSelection.getState().choose({ cards: Object.keys(board.cards), arrows: [] });
}

function zoom(direction: "in" | "out"): void {
  const { flow } = useView.getState();
  void (direction === "in" ? flow?.zoomIn({ duration: 120 }) : flow?.zoomOut({ duration: 120 }));
}
