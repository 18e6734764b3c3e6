/** Makes the arguments of a call fit to be sent once more: without what was taken out of them, and what no form has. */

import type { Json } from "../ui/JsonTree.tsx";
import { isObject, type JsonObject, type JsonSchema } from "../ui/json-schema.ts";

/** Which copy of a card is meant; an arrow says that by itself. */
const COPY = "card";

export function withoutHidden(sent: JsonObject, hidden: readonly string[], schema: JsonSchema): JsonObject {
  const known = isObject(schema.properties) ? schema.properties : {};
  const kept = Object.entries(sent).filter(([name]) => name !== COPY || name in known);
  return hidden.reduce(
    (value, pointer) => without(value, steps(pointer)),
    Object.fromEntries(kept) as Json,
  ) as JsonObject;
}

function steps(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function without(value: Json, path: readonly string[]): Json {
  const [step, ...rest] = path;
  if (step === undefined || value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) {
    return value.map((one: Json, at) => (String(at) === step ? (rest.length === 0 ? "" : without(one, rest)) : one));
  }
  const { [step]: found, ...others } = value as JsonObject;
  return found === undefined || rest.length === 0 ? others : { ...others, [step]: without(found, rest) };
}
