import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { Puzzle } from "lucide-react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { bySection, type Choice, matching, Picker } from "./Picker.tsx";

beforeEach(() => {
  Element.prototype.scrollIntoView = vi.fn(); // jsdom has no layout
});
afterEach(cleanup);

function choice(id: string, section: string, run: () => void = () => undefined, more: Partial<Choice> = {}): Choice {
  return { id, section, icon: Puzzle, name: id, run, ...more };
}

test("those of a section stand together, and every word that is typed must be in what is said of a choice", () => {
  const all = [choice("a", "one"), choice("b", "two", undefined, { detail: "Reads notes" }), choice("c", "one")];
  expect(bySection(all).map((each) => each.id)).toEqual(["a", "c", "b"]);
  expect(matching(all, "read NOTES").map((each) => each.id)).toEqual(["b"]);
  expect(matching(all, "two c")).toEqual([]);
});

test("keys walk over what can be chosen, and Enter takes it", () => {
  const [taken, refused, onClose] = [vi.fn(), vi.fn(), vi.fn()];
  const choices = [choice("a", "s"), choice("b", "s", refused, { obstacle: "not now" }), choice("c", "s", taken)];
  render(<Picker title="Which?" choices={choices} onClose={onClose} />);
  const field = screen.getByRole("combobox");
  fireEvent.keyDown(field, { key: "ArrowDown" });
  expect(screen.getByRole("option", { selected: true }).textContent).toBe("c");
  fireEvent.click(screen.getByText("not now"));
  expect(refused).not.toHaveBeenCalled();
  fireEvent.keyDown(field, { key: "Enter" });
  expect(taken).toHaveBeenCalledOnce();
  expect(onClose).toHaveBeenCalledOnce();
});
