/** What a card can be set to, as a form has it: what is typed, and what is sent of it. It draws nothing. */

import { ApiError, api, ask, type Schemas } from "../api/client.ts";
import { here } from "../board/store.ts";

export type Shown = Schemas["ShownSettings"];
export type Setting = Shown["settings"][number];
/** What was typed or chosen; `null` puts a setting back to its default, and removes a secret. */
export type Typed = string | boolean | null;
export type Draft = Readonly<Record<string, Typed>>;
export type Problems = Readonly<Record<string, string>>;

const PATH = "/api/v1/workspaces/{w}/cards/{c}/settings";

export function readSettings(card: string, language: string): Promise<Shown> {
  return ask(api.GET(PATH, { params: { path: { w: here(), c: card }, query: { language } } }));
}

export function saveSettings(card: string, settings: readonly Setting[], draft: Draft): Promise<Shown> {
  const known = settings.filter(({ key }) => key in draft);
  const values = Object.fromEntries(known.map((setting) => [setting.key, sent(setting, draft[setting.key] ?? null)]));
  return ask(api.PUT(PATH, { params: { path: { w: here(), c: card } }, body: { values } }));
}

/** What a field holds: what was typed, else what the setting is set to. */
export function held(setting: Setting, shown: Shown, draft: Draft): string | boolean {
  const typed = draft[setting.key];
  if (typed === null) return plain(setting.default);
  return typed ?? plain(shown.values[setting.key]);
}

/** What is wrong with each field, where the host has said so. */
export function problemsIn(error: unknown): Problems {
  const told = error instanceof ApiError ? error.data.errors : undefined;
  if (!Array.isArray(told)) return {};
  return Object.fromEntries((told as { key: string; message: string }[]).map(({ key, message }) => [key, message]));
}

/** What was typed, as the host takes it; an empty field that has no default is no value. */
export function sent(setting: Setting, typed: Typed): string | number | boolean | null {
  if (typeof typed !== "string") return typed;
  if (setting.type === "number") return typed.trim() === "" ? null : Number(typed);
  if (typed === "" && (setting.default === null || setting.type === "select")) return null;
  return typed;
}

function plain(value: string | number | boolean | null | undefined): string | boolean {
  if (typeof value === "boolean") return value;
  return value === undefined || value === null ? "" : String(value);
}
