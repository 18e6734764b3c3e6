import { expect, test } from "vitest";
import { hasKeys, isWriting, shownKeys } from "./shortcuts.ts";

const press = (key: string, more: KeyboardEventInit = {}) => new KeyboardEvent("keydown", { key, ...more });

test("keys are pressed with exactly those others that their text names", () => {
  expect(hasKeys(press("z", { ctrlKey: true }), "mod+z")).toBe(true);
  expect(hasKeys(press("Z", { ctrlKey: true, shiftKey: true }), "mod+shift+z")).toBe(true);
  expect(hasKeys(press("Z", { ctrlKey: true, shiftKey: true }), "mod+z")).toBe(false);
  expect(hasKeys(press("z"), "mod+z")).toBe(false);
  expect(hasKeys(press("w", { altKey: true }), "w")).toBe(false);
  expect(hasKeys(press("Backspace"), "delete")).toBe(true);
});

test("a sign may need Shift to be typed", () => {
  expect(hasKeys(press("?", { shiftKey: true }), "?")).toBe(true);
  expect(hasKeys(press("+"), "+")).toBe(true);
});

test("keys are shown as they stand on the keyboard", () => {
  expect(shownKeys("mod+shift+z")).toBe("Ctrl+Shift+Z");
  expect(shownKeys("f2")).toBe("F2");
});

test("keys pressed in a field are text", () => {
  const field = document.createElement("textarea");
  expect(isWriting(field)).toBe(true);
  expect(isWriting(document.body)).toBe(false);
  expect(isWriting(null)).toBe(false);
});
