/** A moment in the user's own words and time zone; the exact one is in its tooltip. */

import { memo } from "react";
import { type Language, useLanguage } from "../i18n/text.ts";

export const When = memo(function When({ at }: { readonly at: string | number }) {
  const language = useLanguage((state) => state.language);
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  const format = formats(language);
  return (
    <time dateTime={date.toISOString()} title={format.exact.format(date)}>
      {(isToday ? format.today : format.before).format(date)}
    </time>
  );
});

interface Formats {
  readonly exact: Intl.DateTimeFormat;
  readonly today: Intl.DateTimeFormat;
  readonly before: Intl.DateTimeFormat;
}

const made = new Map<Language, Formats>();

/** Formats are slow to make and quick to use. */
function formats(language: Language): Formats {
  const known = made.get(language);
  if (known) return known;
  const time = { hour: "2-digit", minute: "2-digit" } as const;
  const fresh = {
    exact: new Intl.DateTimeFormat(language, { dateStyle: "short", timeStyle: "medium" }),
    today: new Intl.DateTimeFormat(language, { ...time, second: "2-digit" }),
    before: new Intl.DateTimeFormat(language, { ...time, year: "numeric", month: "short", day: "numeric" }),
  };
  made.set(language, fresh);
  return fresh;
}
