/** Draws an arrow without the pointer: names the cards that one can be wired to, and says of the others why not. */

import { Plus } from "lucide-react";
import { type Board, type Obstacle, obstacle } from "../board/model.ts";
import { useSelection } from "../board/selection.ts";
import { changeArrow, drawArrow, useBoard } from "../board/store.ts";
import { useText } from "../i18n/text.ts";
import { type Choice, Picker } from "../ui/Picker.tsx";
import { KIND_ICONS } from "./kinds.ts";
import { openPalette, openWindow } from "./view.ts";

/** With `arrow`, that one is led to another card instead. */
export function WirePicker({ from, arrow }: { readonly from: string; readonly arrow: string | undefined }) {
  const text = useText();
  const board = useBoard((state) => state.board);
  const source = board.cards[from];
  if (source === undefined) return null;
  const draw = async (target: string): Promise<void> => {
    if (arrow) return changeArrow(arrow, { target });
    const drawn = await drawArrow(from, target);
    if (drawn) useSelection.getState().select({ kind: "arrow", id: drawn.id });
  };
  const choices: Choice[] = Object.values(board.cards)
    .filter((card) => card.id !== from && card.kind !== "group")
    .map((card) => {
      const why = obstacleWithout(board, arrow, from, card.id);
      return {
        id: card.id,
        section: text("canvas.wire.here"),
        icon: KIND_ICONS[card.kind],
        tone: `kind-${card.kind}`,
        name: card.title,
        detail: text(`kind.${card.kind}`),
        obstacle: why && text(`canvas.obstacle.${why}`),
        run: () => void draw(card.id),
      };
    });
  choices.sort((one, other) => Number(one.obstacle !== undefined) - Number(other.obstacle !== undefined));
  if (arrow === undefined) {
    choices.push({
      id: "new",
      section: text("canvas.wire.elsewhere"),
      icon: Plus,
      name: text("canvas.wire.new"),
      run: () => openPalette({ from }),
    });
  }
  const hint = text("canvas.palette.from", { name: source.title });
  return (
    <Picker title={text("canvas.wire.title")} hint={hint} choices={choices} onClose={() => openWindow(undefined)} />
  );
}

/** What stands in the way once an arrow is not there any more. */
export function obstacleWithout(
  board: Board,
  arrow: string | undefined,
  source: string,
  target: string,
): Obstacle | undefined {
  if (arrow === undefined) return obstacle(board, source, target);
  const { [arrow]: _, ...arrows } = board.arrows;
  return obstacle({ ...board, arrows }, source, target);
}
