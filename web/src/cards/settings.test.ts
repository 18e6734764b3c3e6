import { expect, test } from "vitest";
import { ApiError } from "../api/client.ts";
import { held, problemsIn, type Setting, type Shown, sent } from "./settings.ts";

const BASE: Setting = {
  key: "every",
  type: "number",
  label: "Every",
  description: "",
  placeholder: "",
  default: null,
  required: false,
  scope: "instance",
  max_length: 10,
  min: null,
  max: null,
  step: null,
  options: [],
};

test("what is typed is sent as the setting's type, and an empty field as no value", () => {
  expect(sent(BASE, "15")).toBe(15);
  expect(sent(BASE, " ")).toBe(null);
  expect(sent({ ...BASE, type: "string" }, "")).toBe(null);
  expect(sent({ ...BASE, type: "string", default: "hi" }, "")).toBe("");
  expect(sent({ ...BASE, type: "select", default: "a" }, "")).toBe(null);
  expect(sent({ ...BASE, type: "boolean" }, false)).toBe(false);
});

test("a field holds what was typed, else what is set, and its default once that is wanted back", () => {
  const setting = { ...BASE, default: 5 };
  const shown: Shown = { settings: [setting], values: { every: 15 }, secrets: [] };
  expect(held(setting, shown, {})).toBe("15");
  expect(held(setting, shown, { every: "20" })).toBe("20");
  expect(held(setting, shown, { every: null })).toBe("5");
});

test("what the host says of a value stands at its field", () => {
  const errors = [{ key: "every", message: "is at least 5, not 4" }];
  expect(problemsIn(new ApiError("invalid_param", "…", 400, { errors }))).toEqual({ every: "is at least 5, not 4" });
  expect(problemsIn(new ApiError("offline", "…"))).toEqual({});
});
