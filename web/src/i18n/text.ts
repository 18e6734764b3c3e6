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

/**
 * The words for `key`, filled with `values`.
 *
 * `{name}` becomes the value of that name, and `{name:tool|tools}` the first word where that value is 1, else the second.
 */
export function words(language: Language, key: TextKey, values: Values = {}): string {
  return fill(WORDS[language][key], values);
}

export function fill(sentence: string, values: Values): string {
  return sentence.replace(/\{(\w+)(?::([^|{}]*)\|([^{}]*))?\}/g, (whole, name: string, one?: string, many?: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return one === undefined || many === undefined ? String(value) : value === 1 ? one : many;
  });
}

/** The same function for as long as the language stays, so that it may stand among what a memo depends on. */
export function useText(): Text {
  return TEXTS[useLanguage((state) => state.language)];
}

const TEXTS: Readonly<Record<Language, Text>> = {
  en: (key, values) => words("en", key, values),
  zh: (key, values) => words("zh", key, values),
};

/** The same outside of components. */
export const text: Text = (key, values) => words(useLanguage.getState().language, key, values);

function initialLanguage(): Language {
  const kept = localStorage.getItem(KEPT_AS);
  if (kept === "en" || kept === "zh") return kept;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}
