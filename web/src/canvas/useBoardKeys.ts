/** The keyboard of the board: runs the commands whose keys are pressed, and takes what is pasted. */

import { useEffect } from "react";
import { hasKeys, isWriting } from "../app/shortcuts.ts";
import { clipIn, copies, moveTo } from "../board/clip.ts";
import { sizeOf } from "../board/model.ts";
import { useSelection } from "../board/selection.ts";
import { editBoard, useBoard } from "../board/store.ts";
import { addCopies, COMMANDS, chooseOnly } from "./commands.ts";
import { LEAST } from "./kinds.ts";
import { placeForNew } from "./place.ts";
import { middleOfView, useView } from "./view.ts";

export function useBoardKeys(): void {
  useEffect(() => {
    document.addEventListener("keydown", onSizeKey, true); // before React Flow, which moves a card by these keys
    document.addEventListener("keydown", onKey);
    document.addEventListener("paste", onPaste);
    return () => {
      document.removeEventListener("keydown", onSizeKey, true);
      document.removeEventListener("keydown", onKey);
      document.removeEventListener("paste", onPaste);
    };
  }, []);
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || isElsewhere(event.target)) return;
  const found = COMMANDS.find((one) => one.keys.some((keys) => hasKeys(event, keys)));
  if (found === undefined || found.id === "paste" || !found.isPossible()) return; // what is pasted comes as an event
  if (hasKeys(event, "enter") && !isOnCard(event.target)) return;
  if (found.id === "copy" && String(window.getSelection()).length > 0) return; // a text is marked: it is copied
  event.preventDefault();
  found.run();
}

const SIZES: Readonly<Record<string, readonly [number, number]>> = {
  ArrowRight: [20, 0],
  ArrowLeft: [-20, 0],
  ArrowDown: [0, 20],
  ArrowUp: [0, -20],
};

/** Alt and an arrow key make what is chosen larger or smaller. */
function onSizeKey(event: KeyboardEvent): void {
  const by = SIZES[event.key];
  const { cards } = useSelection.getState();
  if (!event.altKey || by === undefined || cards.length === 0 || isElsewhere(event.target)) return;
  event.preventDefault();
  event.stopPropagation();
  const { board } = useBoard.getState();
  const chosen = cards.flatMap((id) => board.cards[id] ?? []);
  void editBoard(
    chosen.map((card) => {
      const { width, height } = sizeOf(card);
      const { minWidth, minHeight } = LEAST[card.kind];
      const size = { width: Math.max(minWidth, width + by[0]), height: Math.max(minHeight, height + by[1]) };
      return { change: "put_card", id: card.id, ...size };
    }),
  );
}

/** A text from another program becomes a note. */
function onPaste(event: ClipboardEvent): void {
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (isElsewhere(event.target) || text.trim() === "") return;
  event.preventDefault();
  const clip = clipIn(text);
  if (clip) void addCopies(copies(clip, moveTo(clip, middleOfView())));
  else void pasteNote(text);
}

async function pasteNote(text: string): Promise<void> {
  const place = placeForNew("note");
  const edited = await editBoard([{ change: "add_card", ref: "new", kind: "note", ...place, content: { text } }]);
  const made = edited?.ids.new;
  if (made) chooseOnly([made]);
}

/** Whether the keys are meant for something else: a field, or a window above the board. */
function isElsewhere(target: EventTarget | null): boolean {
  if (isWriting(target) || useView.getState().window !== undefined) return true;
  if (document.querySelector("[role='dialog'], [role='alertdialog'], [role='menu']")) return true;
  return target instanceof HTMLElement && target.closest(".inspector, .shell-rail") !== null;
}

function isOnCard(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches(".react-flow__node, body");
}
