/**
 * Says in words what is wrong with a value by its JSON Schema, so that a form can show it beside the field. It knows the
 * usual keywords and skips the others, patterns too (a foreign one may take forever): the host has the last word.
 */

import type { TextKey } from "../i18n/words.ts";
import type { Json } from "./JsonTree.tsx";
import { isObject, type JsonObject, type JsonSchema, referred } from "./json-schema.ts";

/** `path` is a JSON pointer, "" for the whole value. */
export interface Problem {
  readonly path: string;
  readonly key: TextKey;
  readonly values?: Readonly<Record<string, string | number>>;
}

type Told = (key: TextKey, values?: Problem["values"]) => void;

const MAX_DEPTH = 32;
const TYPES: Readonly<Record<string, TextKey>> = {
  string: "ui.form.text",
  number: "ui.form.number",
  integer: "ui.form.integer",
  boolean: "ui.form.boolean",
  array: "ui.form.array",
  object: "ui.form.object",
  null: "ui.form.null",
};
const FORMATS: Readonly<Record<string, RegExp>> = {
  email: /^[^\s@]+@[^\s@]+$/,
  uri: /^[a-z][a-z0-9+.-]*:\S+$/i,
  date: /^\d{4}-\d{2}-\d{2}$/,
  "date-time": /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/,
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
};

/** What is wrong with `value`; `undefined` is a text that is not JSON. */
export function problemsOf(schema: JsonSchema, value: Json | undefined): readonly Problem[] {
  if (value === undefined) return [{ path: "", key: "ui.form.not_json" }];
  return check(schema, value, "", schema, 0);
}

function check(schema: JsonSchema, value: Json, path: string, root: JsonSchema, depth: number): Problem[] {
  if (depth > MAX_DEPTH) return [];
  const problems: Problem[] = [];
  const tell: Told = (key, values) => problems.push(values ? { path, key, values } : { path, key });
  const target = referred(schema, root);
  if (target) problems.push(...check(target, value, path, root, depth + 1));
  checkForms(schema, value, tell, (form) => check(form, value, path, root, depth + 1), problems);
  if (!checkWhole(schema, value, tell)) return problems;
  if (typeof value === "string") checkText(schema, value, tell);
  if (typeof value === "number") checkNumber(schema, value, tell);
  if (Array.isArray(value)) {
    checkList(schema, value, tell);
    const { items } = schema;
    if (isObject(items)) {
      value.forEach((one, at) => {
        problems.push(...check(items, one, `${path}/${at}`, root, depth + 1));
      });
    }
  } else if (isObject(value)) problems.push(...checkObject(schema, value, path, root, depth));
  return problems;
}

function checkForms(
  schema: JsonSchema,
  value: Json,
  tell: Told,
  tried: (form: JsonSchema) => readonly Problem[],
  problems: Problem[],
): void {
  for (const forms of [schema.anyOf, schema.oneOf]) {
    if (!Array.isArray(forms) || value === undefined) continue;
    const found = forms.filter(isObject).map(tried);
    if (found.some((wrong) => wrong.length === 0)) continue;
    const likely = forms.filter((form) => isObject(form) && form.type !== "null");
    if (likely.length === 1 && isObject(likely[0])) problems.push(...tried(likely[0]));
    else tell("ui.form.no_form");
  }
  if (Array.isArray(schema.allOf)) {
    for (const form of schema.allOf.filter(isObject)) problems.push(...tried(form));
  }
}

/** Type, enum and const; says whether it is worth looking closer. */
function checkWhole(schema: JsonSchema, value: Json, tell: Told): boolean {
  const { type, enum: options } = schema;
  const types = typeof type === "string" ? [type] : Array.isArray(type) ? type.map(String) : [];
  if (types.length > 0 && !types.some((one) => isOf(one, value))) {
    tell(TYPES[types.find((one) => one !== "null") ?? "null"] ?? "ui.form.no_form");
    return false;
  }
  if (Array.isArray(options) && !options.some((one) => same(one, value))) tell("ui.form.choice");
  if (schema.const !== undefined && !same(schema.const, value)) {
    tell("ui.form.const", { value: JSON.stringify(schema.const) });
  }
  return true;
}

function checkText(schema: JsonSchema, value: string, tell: Told): void {
  const { minLength, maxLength, format } = schema;
  const length = [...value].length;
  if (typeof minLength === "number" && length < minLength) tell("ui.form.too_short", { n: minLength });
  if (typeof maxLength === "number" && length > maxLength) tell("ui.form.too_long", { n: maxLength });
  if (typeof format === "string" && FORMATS[format]?.test(value) === false) tell("ui.form.format", { format });
}

function checkNumber(schema: JsonSchema, value: number, tell: Told): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (typeof minimum === "number" && value < minimum) tell("ui.form.at_least", { n: minimum });
  if (typeof maximum === "number" && value > maximum) tell("ui.form.at_most", { n: maximum });
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum) tell("ui.form.above", { n: exclusiveMinimum });
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum) tell("ui.form.below", { n: exclusiveMaximum });
  if (typeof multipleOf === "number" && multipleOf > 0) {
    const times = value / multipleOf;
    if (Math.abs(times - Math.round(times)) > 1e-9) tell("ui.form.multiple", { n: multipleOf });
  }
}

function checkList(schema: JsonSchema, value: readonly Json[], tell: Told): void {
  const { minItems, maxItems, uniqueItems } = schema;
  if (typeof minItems === "number" && value.length < minItems) tell("ui.form.too_few", { n: minItems });
  if (typeof maxItems === "number" && value.length > maxItems) tell("ui.form.too_many", { n: maxItems });
  if (uniqueItems === true && new Set(value.map((one) => JSON.stringify(one))).size < value.length) {
    tell("ui.form.repeated");
  }
}

function checkObject(schema: JsonSchema, value: JsonObject, path: string, root: JsonSchema, depth: number): Problem[] {
  const problems: Problem[] = [];
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  for (const name of required) {
    if (value[name] === undefined) problems.push({ path: pointer(path, name), key: "ui.form.missing" });
  }
  const { additionalProperties: others, patternProperties } = schema;
  for (const [name, one] of Object.entries(value)) {
    const inner = Object.hasOwn(properties, name) ? properties[name] : others;
    const at = pointer(path, name);
    if (isObject(inner)) problems.push(...check(inner, one, at, root, depth + 1));
    else if (inner === false && patternProperties === undefined) {
      problems.push({ path: at, key: "ui.form.extra", values: { name } });
    }
  }
  return problems;
}

/** The JSON pointer to a part. */
export function pointer(path: string, name: string | number): string {
  return `${path}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

function isOf(type: string, value: Json): boolean {
  switch (type) {
    case "integer":
      return typeof value === "number" && Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "null":
      return value === null;
    default:
      return typeof value === type;
  }
}

function same(one: Json, other: Json): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
