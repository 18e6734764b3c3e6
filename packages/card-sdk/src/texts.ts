/** Strings as the wire takes them: cut to a length, and without halves of characters. */

/** The first `limit` code points of a text, the last of them an ellipsis if that is not all of it. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const points = Array.from(text);
  return points.length <= limit ? text : `${points.slice(0, limit - 1).join("")}…`;
}

/** One line: what a progress message or a label is. */
export function oneLine(text: string): string {
  return text.replace(/[\r\n\u2028\u2029]+/g, " ").trim();
}

/** What was thrown, in words: an error's message, never its stack (decision 32). */
export function wordsOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return thrown.errors.map(wordsOf).join("; ");
  if (thrown instanceof Error) return thrown.message.trim() || thrown.name;
  if (typeof thrown === "string") return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return String(thrown);
  }
}

// Unpaired surrogates, which JSON writes as escapes that strict readers refuse.
const HALVES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const MAY_HAVE_HALVES = /\\ud[89a-f]/i;

/** JSON text that every reader takes: halves of characters become U+FFFD. Throws where `JSON.stringify` does. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  return MAY_HAVE_HALVES.test(text) ? JSON.stringify(whole(JSON.parse(text))) : text;
}

function whole(value: unknown): unknown {
  if (typeof value === "string") return value.replace(HALVES, "\ufffd");
  if (Array.isArray(value)) return value.map(whole);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [whole(key), whole(inner)]));
}

/** How many bytes a text has in UTF-8. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

const BRACKETS = /[[{]/g;

/** Whether JSON text may have so many levels that `isTooDeep` must look; quick, for texts of any size. */
export function mayBeDeep(text: string, limit: number): boolean {
  return (text.match(BRACKETS)?.length ?? 0) > limit;
}

/** Whether more than `limit` lists and objects are inside each other; what is met twice, as in a cycle, counts once. */
export function isTooDeep(value: unknown, limit: number): boolean {
  const seen = new Set<unknown>();
  const isNew = (one: unknown): one is object => {
    if (typeof one !== "object" || one === null || seen.has(one)) return false;
    seen.add(one);
    return true;
  };
  let level = [value].filter(isNew);
  for (let depth = 0; depth < limit && level.length > 0; depth += 1) {
    level = level.flatMap((one) => Object.values(one)).filter(isNew);
  }
  return level.length > 0;
}
