/** Finds the words for a key in the language that the user has chosen; it translates nothing that others wrote. */

import { create } from "zustand";
import { en, type TextKey, zh } from "./words.ts";

export type Language = "en" | "zh";
export type Values = Readonly<Record<string, string | number>>;
export type Text = (key: TextKey, values?: Values) => string;

const WORDS: Record<Language, Record<TextKey, string>> = { en, zh };
const KEPT_AS = "toolwire.language";

interface LanguageState {
  readonly language: Language;
  readonly choose: (language: Language) => void;
}

export const useLanguage = create<LanguageState>()((set) => ({
  language: initialLanguage(),
  choose: (language) => {
    localStorage.setItem(KEPT_AS, language);
    document.documentElement.lang = language;
    set({ language });
  },
}));

/** The words for `key`, with `{name}` replaced by the value of that name. */
export function words(language: Language, key: TextKey, values: Values = {}): string {
  return WORDS[language][key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

export function useText(): Text {
  const language = useLanguage((state) => state.language);
  return (key, values) => words(language, key, values);
}

/** The same outside of components. */
export const text: Text = (key, values) => words(useLanguage.getState().language, key, values);

function initialLanguage(): Language {
  const kept = localStorage.getItem(KEPT_AS);
  if (kept === "en" || kept === "zh") return kept;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}
