/** Reads JSON Schema for forms: what kind of field a part is, and what stands in it at first; it checks no value. */

import type { Json } from "./JsonTree.tsx";

export type JsonObject = { readonly [key: string]: Json };
export type JsonSchema = JsonObject;

/** How a part of a value is written. What no field is made for is written as JSON. */
export type Shape =
  | { readonly kind: "text"; readonly input: TextInput; readonly long: boolean }
  | { readonly kind: "number"; readonly whole: boolean }
  | { readonly kind: "flag" }
  | { readonly kind: "choice"; readonly options: readonly Json[] }
  | { readonly kind: "list"; readonly items: JsonSchema }
  | { readonly kind: "group"; readonly parts: readonly Part[] }
  | { readonly kind: "json" };

export type TextInput = "text" | "password" | "email" | "url" | "date";

export interface Part {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

const MAX_HOPS = 8;
const MAX_DEPTH = 6;
const LONG_TEXT = 120;
const INPUTS: Readonly<Record<string, TextInput>> = {
  password: "password",
  email: "email",
  uri: "url",
  url: "url",
  date: "date",
};

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A schema without its reference, and without the "or nothing" that optional values of some languages have. */
export function resolved(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let here = schema;
  for (let hop = 0; hop < MAX_HOPS; hop += 1) {
    const next = referred(here, root) ?? onlyOne(here);
    if (next === undefined) return here;
    const { $ref: _, anyOf: __, oneOf: ___, allOf: ____, ...beside } = here;
    here = { ...next, ...beside };
  }
  return {};
}

/** What kind of field a schema, already `resolved`, asks for. */
export function shapeOf(schema: JsonSchema, depth = 0): Shape {
  const { enum: options, format } = schema;
  if (Array.isArray(options) && options.every((one) => one === null || typeof one !== "object")) {
    return { kind: "choice", options };
  }
  switch (typeOf(schema)) {
    case "string": {
      const input = schema.writeOnly === true ? "password" : (INPUTS[String(format)] ?? "text");
      return { kind: "text", input, long: input === "text" && isLong(schema) };
    }
    case "number":
      return { kind: "number", whole: false };
    case "integer":
      return { kind: "number", whole: true };
    case "boolean":
      return { kind: "flag" };
    case "array":
      return depth < MAX_DEPTH && isObject(schema.items) ? { kind: "list", items: schema.items } : { kind: "json" };
    case "object":
      return depth < MAX_DEPTH && isObject(schema.properties) && !isOpen(schema)
        ? { kind: "group", parts: partsOf(schema) }
        : { kind: "json" };
    default:
      return { kind: "json" };
  }
}

/** What a form begins with: what the schema's defaults say, and what is needed and can only be one thing. */
export function initialOf(schema: JsonSchema, root: JsonSchema = schema, depth = 0): Json | undefined {
  const here = resolved(schema, root);
  if (here.default !== undefined) return here.default;
  if (here.const !== undefined) return here.const;
  const shape = shapeOf(here, depth);
  if (shape.kind === "flag") return false;
  if (shape.kind === "list") return [];
  if (shape.kind !== "group") return undefined;
  const begun: Record<string, Json> = {};
  for (const { name, schema: part, required } of shape.parts) {
    const inner = resolved(part, root);
    const first = required ? initialOf(part, root, depth + 1) : inner.default;
    if (first !== undefined) begun[name] = first;
  }
  return begun;
}

/** The one type that a schema names, beside "null". */
export function typeOf(schema: JsonSchema): string | undefined {
  const { type } = schema;
  if (typeof type === "string") return type;
  const named = Array.isArray(type) ? type.filter((one) => one !== "null") : [];
  if (named.length === 1) return String(named[0]);
  return type === undefined && isObject(schema.properties) ? "object" : undefined;
}

export function wordsOf(schema: JsonSchema, key: "title" | "description"): string | undefined {
  const said = schema[key];
  return typeof said === "string" && said.trim() ? said : undefined;
}

/** Where a schema's reference points to, within the same document. */
export function referred(schema: JsonSchema, root: JsonSchema): JsonSchema | undefined {
  const to = schema.$ref;
  if (typeof to !== "string" || !to.startsWith("#")) return undefined;
  let found: Json | undefined = root;
  for (const step of to.slice(1).split("/").slice(1)) {
    const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return isObject(found) ? found : undefined;
}

/** The one of several forms that is left without "null"; a list of constants is a choice. */
function onlyOne(schema: JsonSchema): JsonSchema | undefined {
  const forms = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (!Array.isArray(forms) || !forms.every(isObject)) return undefined;
  const left = forms.filter((form) => form.type !== "null");
  if (left.length === 1) return left[0];
  if (schema.allOf || left.length === 0 || !left.every((form) => form.const !== undefined)) return undefined;
  return { enum: left.map((form) => form.const as Json) };
}

function isLong(schema: JsonSchema): boolean {
  const { maxLength, contentMediaType } = schema;
  return typeof contentMediaType === "string" || (typeof maxLength === "number" && maxLength > LONG_TEXT);
}

/** Whether names that the schema does not list are meant to be written too. */
function isOpen(schema: JsonSchema): boolean {
  return isObject(schema.additionalProperties) || isObject(schema.patternProperties);
}

function partsOf(schema: JsonSchema): readonly Part[] {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(schema.properties as JsonObject).map(([name, part]) => ({
    name,
    schema: isObject(part) ? part : {},
    required: required.has(name),
  }));
}
