/** What a handler returns, as the result that goes to the agent (cards.md 40-52, decisions 29-32). */

import type { ImagePart, TextPart, ToolResult } from "./protocol.js";
import { MAX_DEPTH, MAX_PARTS, MAX_RESULT_BYTES } from "./protocol.js";
import { byteLength, isTooDeep, jsonText } from "./texts.js";

/** A result as a handler may return it: 1 to 16 parts, 1 MiB in all. */
export type ToolResultPayload = ToolResult;

/** The pictures that agents take. */
export type ImageType = "image/png" | "image/jpeg" | "image/webp" | "image/gif";

/** The types of picture that agents take, and how the data of each begins. */
const BEGINNINGS: ReadonlyMap<string, readonly string[]> = new Map([
  ["image/png", ["\x89PNG\r\n\x1a\n"]],
  ["image/jpeg", ["\xff\xd8\xff"]],
  ["image/webp", ["RIFF"]],
  ["image/gif", ["GIF87a", "GIF89a"]],
]);
/** Base64 of as many bytes as the longest of them needs. */
const BEGINNING_CHARS = 12;
/** Each value is at least a character and a comma: more of them do not fit into a result. */
const MOST_VALUES = MAX_RESULT_BYTES / 2;
const NOTHING = "OK";
const DATA_URL = /^data:([^;,]*)[^,]*,/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

// What the functions below have made is a result whatever it looks like; other objects must have its form to be one.
const made = new WeakSet<object>();

/** Text, the same as returning it. */
export function toolText(text: string): ToolResultPayload {
  return result([{ type: "text", text: String(text) }]);
}

/**
 * A picture, and words below it.
 *
 * @param data base64 of the file, or a `data:` URL.
 * @param mimeType what it is; a `data:` URL says so itself.
 * @param caption a text part after the picture.
 * @throws TypeError if it is no picture type that agents take, or no picture of that type.
 */
export function toolImage(data: string, mimeType: ImageType = "image/png", caption?: string): ToolResultPayload {
  const head = DATA_URL.exec(data);
  const encoded = head ? data.slice(head[0].length) : data;
  const image: ImagePart = { type: "image", data: encoded, mimeType: head ? (head[1] ?? "") : mimeType };
  const wrong = wrongImage(image);
  if (wrong !== undefined) throw new TypeError(wrong);
  return result(caption === undefined ? [image] : [image, { type: "text", text: caption }]);
}

/** A failure in words that the model can read and act on. */
export function toolError(message: string): ToolResultPayload {
  return result([{ type: "text", text: String(message) }], true);
}

/** Several parts in one result; strings are text, and results give their parts. */
export function toolResult(
  parts: ReadonlyArray<string | TextPart | ImagePart | ToolResultPayload>,
  options: { readonly isError?: boolean } = {},
): ToolResultPayload {
  return result(parts.flatMap(partsOf), options.isError);
}

/**
 * What a handler's return value means.
 *
 * @throws TypeError if it is nothing that an agent can be sent; the message is for the agent, too.
 */
export function resultOf(returned: unknown): ToolResult {
  if (returned === undefined) return toolText(NOTHING);
  if (typeof returned === "string") return withinLimits(toolText(returned));
  if (isPayload(returned)) return withinLimits(returned);
  return withinLimits(toolText(pretty(returned)));
}

function partsOf(part: string | TextPart | ImagePart | ToolResultPayload): ReadonlyArray<TextPart | ImagePart> {
  if (typeof part === "string") return [{ type: "text", text: part }];
  return "content" in part ? part.content : [part];
}

function result(content: ReadonlyArray<TextPart | ImagePart>, isError = false): ToolResultPayload {
  const payload: ToolResultPayload = isError ? { content, isError } : { content };
  made.add(payload);
  return payload;
}

/** Whether a value has fully the form of a result (decision 30): what only looks like one is JSON like any other. */
function isPayload(value: unknown): value is ToolResultPayload {
  if (typeof value !== "object" || value === null) return false;
  if (made.has(value)) return true;
  if (!hasOnly(value, ["content", "isError"]) || !("content" in value)) return false;
  if ("isError" in value && typeof value.isError !== "boolean") return false;
  return Array.isArray(value.content) && value.content.length > 0 && value.content.every(isPart);
}

function isPart(value: unknown): value is TextPart | ImagePart {
  if (typeof value !== "object" || value === null || !("type" in value)) return false;
  if (value.type === "text") return hasOnly(value, ["type", "text"]) && "text" in value && isString(value.text);
  if (value.type !== "image" || !hasOnly(value, ["type", "data", "mimeType"])) return false;
  return "data" in value && isString(value.data) && "mimeType" in value && isString(value.mimeType);
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function hasOnly(value: object, keys: readonly string[]): boolean {
  return Object.keys(value).every((key) => keys.includes(key));
}

function pretty(value: unknown): string {
  if (isTooDeep(value, MAX_DEPTH)) {
    throw new TypeError(`the handler returned a value that is nested deeper than ${MAX_DEPTH}`);
  }
  let text: string | undefined;
  try {
    text = JSON.stringify(value, refuser(), 2);
  } catch (error) {
    throw new TypeError(`the handler returned what cannot be written as JSON: ${(error as Error).message}`);
  }
  if (text === undefined) throw new TypeError(`the handler returned a ${typeof value}, which JSON has not`);
  return text;
}

/** Refuses what JSON would write as `null` or `{}`, which nobody would expect, and what has no end. */
function refuser(): (key: string, value: unknown) => unknown {
  let values = 0;
  return (_key, value) => {
    values += 1;
    if (values > MOST_VALUES) throw new TypeError(`it has more than ${MOST_VALUES} values. Return less, or a summary`);
    if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`JSON has no ${value}`);
    if (value instanceof Map || value instanceof Set) {
      throw new TypeError(`JSON has no ${value.constructor.name}; return an object or an array made of it`);
    }
    return value;
  };
}

function withinLimits(payload: ToolResult): ToolResult {
  const wrong = whatIsWrong(payload);
  if (wrong !== undefined) throw new TypeError(`the handler returned an invalid result: ${wrong}`);
  return payload;
}

function whatIsWrong(payload: ToolResult): string | undefined {
  const parts = payload.content.length;
  if (parts < 1 || parts > MAX_PARTS) return `it has ${parts} parts; 1 to ${MAX_PARTS} are allowed`;
  const size = byteLength(jsonText(payload));
  if (size > MAX_RESULT_BYTES) return `it has ${size} bytes; ${MAX_RESULT_BYTES} are allowed. Return less, or a summary`;
  return payload.content.map(wrongImage).find((wrong) => wrong !== undefined);
}

function wrongImage(part: TextPart | ImagePart): string | undefined {
  if (part.type !== "image") return undefined;
  const beginnings = BEGINNINGS.get(part.mimeType);
  if (beginnings === undefined) {
    return `an image is one of ${[...BEGINNINGS.keys()].join(", ")}, not ${JSON.stringify(part.mimeType)}`;
  }
  if (part.data.length % 4 !== 0 || !BASE64.test(part.data)) return "an image's data is not base64";
  const start = atob(part.data.slice(0, BEGINNING_CHARS));
  if (!beginnings.some((beginning) => start.startsWith(beginning))) return `an image's data is no ${part.mimeType}`;
  return undefined;
}
