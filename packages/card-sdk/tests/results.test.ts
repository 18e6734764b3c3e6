/** What a handler returns, as the agent gets it (cards.md 40-52, decisions 29-32). */

import type { ToolResultPayload } from "@toolwire/card-sdk";
import { toolError, toolImage, toolResult, toolText } from "@toolwire/card-sdk";
import { expect, test } from "vitest";
import { connected } from "./hosts.js";

const PNG = "iVBORw0KGgo=";
const image = { type: "image", data: PNG, mimeType: "image/png" } as const;
const text = (words: string) => ({ type: "text", text: words }) as const;

async function resultOf(returned: unknown): Promise<ToolResultPayload> {
  const [host, card] = await connected();
  card.tools.handle("run_tests", () => returned);
  return host.callTool("run_tests");
}

test.each([
  ["a string", "words", text("words")],
  ["an empty string", "", text("")],
  ["undefined", undefined, text("OK")],
  ["null", null, text("null")],
  ["a number", 3, text("3")],
  ["an object", { a: [1, { b: "ü" }] }, text('{\n  "a": [\n    1,\n    {\n      "b": "ü"\n    }\n  ]\n}')],
  ["what has toJSON", new Date(0), text('"1970-01-01T00:00:00.000Z"')],
  ["toolText", toolText("words"), text("words")],
  ["a payload", { content: [text("a")] }, text("a")],
])("%s becomes what the page says (cards.md 40-43, 46)", async (_, returned, part) => {
  expect(await resultOf(returned)).toEqual({ content: [part] });
});

test("a picture comes before its caption (cards.md 44, decision 31)", async () => {
  expect(await resultOf(toolImage(PNG, "image/png", "the chart"))).toEqual({ content: [image, text("the chart")] });
  expect(await resultOf(toolImage(`data:image/png;base64,${PNG}`))).toEqual({ content: [image] });
  const webp = { type: "image", data: btoa("RIFF1234WEBP"), mimeType: "image/webp" };
  expect(await resultOf(toolImage(`data:image/webp;base64,${webp.data}`))).toEqual({ content: [webp] });
});

test("a picture that agents do not take is refused where it is made, or where it is returned (cards.md 52)", async () => {
  expect(() => toolImage(PNG, "image/tiff" as never)).toThrow('not "image/tiff"');
  await expect(resultOf({ content: [{ ...image, mimeType: "image/tiff" }] })).rejects.toThrow('not "image/tiff"');
  await expect(resultOf({ content: [{ ...image, data: "not base64!" }] })).rejects.toThrow("an image's data is not base64");
  expect(() => toolImage("not base64!")).toThrow("an image's data is not base64");
  expect(() => toolImage(PNG, "image/gif")).toThrow("an image's data is no image/gif");
  expect(() => toolImage(`data:image/svg+xml;base64,${PNG}`)).toThrow('not "image/svg+xml"');
});

test("an error's words and its mark reach the agent (cards.md 45)", async () => {
  expect(await resultOf(toolError("connect a terminal"))).toEqual({ content: [text("connect a terminal")], isError: true });
});

test("several parts make one result (cards.md 46, 47)", async () => {
  const made = toolResult(["a", image, toolImage(PNG, "image/png", "b"), text("c")], { isError: true });
  expect(await resultOf(made)).toEqual({ content: [text("a"), image, image, text("b"), text("c")], isError: true });
});

test.each([
  ["more keys", { content: [text("a")], more: 1 }],
  ["another content", { content: "a" }],
  ["empty content", { content: [] }],
  ["a part of another kind", { content: [{ type: "audio" }] }],
  ["a part with more keys", { content: [{ type: "text", text: "a", note: 1 }] }],
  ["a mark that is none", { content: [text("a")], isError: "yes" }],
])("what only looks like a result is JSON: %s (decision 30)", async (_, returned) => {
  expect(await resultOf(returned)).toEqual({ content: [text(JSON.stringify(returned, null, 2))] });
});

test("a result has 1 to 16 parts (cards.md 48)", async () => {
  expect((await resultOf(toolResult(Array<string>(16).fill("a")))).content).toHaveLength(16);
  await expect(resultOf(toolResult(Array<string>(17).fill("a")))).rejects.toThrow("an invalid result: it has 17 parts; 1 to 16 are allowed");
  await expect(resultOf(toolResult([]))).rejects.toThrow("it has 0 parts");
});

test("a result has 1 MiB at most, as it goes over the wire in UTF-8 (cards.md 49, decision 29)", async () => {
  const around = JSON.stringify({ content: [text("")] }).length;
  const most = "ü".repeat((1024 * 1024 - around) / 2);
  expect((await resultOf(most)).content).toHaveLength(1);
  await expect(resultOf(`${most}aa`)).rejects.toThrow(/1048576 are allowed. Return less/);
  await expect(resultOf("a".repeat(2 * 1024 * 1024))).rejects.toThrow(/an invalid result: it has 20971\d\d bytes/);
});

const cycle: { self?: unknown } = {};
cycle.self = cycle;
const deep = JSON.parse(`${"[".repeat(200)}${"]".repeat(200)}`) as unknown;
let laughs: unknown = "ha";
for (let level = 0; level < 30; level += 1) laughs = [laughs, laughs];

test.each([
  ["NaN", { a: Number.NaN }, "JSON has no NaN"],
  ["infinity", -Infinity, "JSON has no -Infinity"],
  ["a big integer", 1n, "BigInt"],
  ["a cycle", cycle, "circular"],
  ["a function", () => 1, "a function, which JSON has not"],
  ["a map", { a: new Map() }, "JSON has no Map"],
  ["no end", laughs, "more than 524288 values"],
  ["great depth", deep, "nested deeper than 128"],
])("what JSON has not is an error in words: %s (cards.md 52, decision 31)", async (_, returned, words) => {
  await expect(resultOf(returned)).rejects.toThrow(words);
});
