/** A moment in the user's own words and time zone; the exact one is in its tooltip. */

import { useLanguage } from "../i18n/text.ts";

export function When({ at }: { readonly at: string | number }) {
  const language = useLanguage((state) => state.language);
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString(language)}>
      {shortTime(date, language)}
    </time>
  );
}

function shortTime(date: Date, language: string): string {
  const sameDay = date.toDateString() === new Date().toDateString();
  const options: Intl.DateTimeFormatOptions = sameDay
    ? { hour: "2-digit", minute: "2-digit", second: "2-digit" }
    : { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" };
  return date.toLocaleString(language, options);
}
