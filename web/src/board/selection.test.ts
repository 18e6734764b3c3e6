import { expect, test } from "vitest";
import { boardOf, type Card, NOTHING } from "./model.ts";
import { useSelection } from "./selection.ts";
import { useBoard } from "./store.ts";

const A: Card = { id: "a", kind: "note", title: "A", x: 0, y: 0, width: 0, height: 0, content: {}, state: "idle" };

test("details are shown of the one thing that is chosen, and of nothing that is gone", () => {
  const { choose } = useSelection.getState();
  useBoard.setState({ board: boardOf([A, { ...A, id: "b" }], []) });
  choose({ cards: ["a", "b"], arrows: [] });
  expect(useSelection.getState().selected).toBeUndefined();
  useBoard.setState({ board: boardOf([A], []) });
  expect(useSelection.getState().selected).toEqual({ kind: "card", id: "a" });
  useBoard.setState({ board: NOTHING });
  expect(useSelection.getState()).toMatchObject({ selected: undefined, cards: [], arrows: [] });
});
