import { expect, test } from "vitest";
import { fill, words } from "./text.ts";
import { en, type TextKey, zh } from "./words.ts";

test("both languages have the same keys, and the same values in each text", () => {
  expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort());
  const valuesOf = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();
  for (const [key, text] of Object.entries(en)) {
    expect(valuesOf(zh[key as TextKey]), key).toEqual(valuesOf(text));
  }
});

test("a text keeps the name of a value that is not given, so that its absence shows", () => {
  expect(words("en", "canvas.label")).toBe("Canvas of {name}");
  expect(words("en", "canvas.label", { name: "Home" })).toBe("Canvas of Home");
});

test("a text takes the word that fits the number of a value", () => {
  expect(fill("{count} {count:tool|tools} of {agent}", { count: 1, agent: "Ada" })).toBe("1 tool of Ada");
  expect(fill("{count} {count:tool|tools} of {agent}", { count: 0, agent: "Ada" })).toBe("0 tools of Ada");
  expect(fill("{count:tool|tools}", {})).toBe("{count:tool|tools}");
});
