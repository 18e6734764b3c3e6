import { expect, test } from "vitest";
import type { Json } from "./JsonTree.tsx";
import { initialOf, type JsonSchema, resolved, shapeOf } from "./json-schema.ts";
import { problemsOf } from "./schema-check.ts";

const DEPLOY: JsonSchema = {
  type: "object",
  properties: {
    branch: { type: "string", minLength: 1, maxLength: 20 },
    times: { type: "integer", minimum: 1, maximum: 3, default: 1 },
    stage: { enum: ["test", "live"] },
    owner: { anyOf: [{ type: "string" }, { type: "null" }] },
    labels: { type: "array", items: { type: "string", maxLength: 3 }, maxItems: 2, uniqueItems: true },
    limits: { $ref: "#/$defs/limits" },
  },
  required: ["branch"],
  additionalProperties: false,
  $defs: {
    limits: { type: "object", properties: { cpu: { type: "number", exclusiveMinimum: 0 } }, required: ["cpu"] },
  },
};

function wrong(value: Json, schema: JsonSchema = DEPLOY): string[] {
  return problemsOf(schema, value).map(({ path, key }) => `${path} ${key}`);
}

test("what is missing, out of its limits or not in the schema is told at its place", () => {
  expect(wrong({ branch: "main", times: 2, owner: null, labels: ["a"], limits: { cpu: 0.5 } })).toEqual([]);
  expect(wrong({})).toEqual(["/branch ui.form.missing"]);
  expect(wrong({ branch: "", times: 4 })).toEqual(["/branch ui.form.too_short", "/times ui.form.at_most"]);
  expect(wrong({ branch: "x", times: 1.5, stage: "prod" })).toEqual([
    "/times ui.form.integer",
    "/stage ui.form.choice",
  ]);
  expect(wrong({ branch: "x", labels: ["long", "b", "b"], more: 1 })).toEqual([
    "/labels ui.form.too_many",
    "/labels ui.form.repeated",
    "/labels/0 ui.form.too_long",
    "/more ui.form.extra",
  ]);
  expect(wrong({ branch: "x", limits: { cpu: 0 }, owner: 3 })).toEqual([
    "/limits/cpu ui.form.above",
    "/owner ui.form.text",
  ]);
  expect(problemsOf(DEPLOY, undefined)).toEqual([{ path: "", key: "ui.form.not_json" }]);
});

test("lengths count characters, and multiples forgive what floating point does", () => {
  expect(wrong("👩‍🚀".slice(0, 2), { type: "string", maxLength: 1 })).toEqual([]);
  expect(wrong(0.3, { type: "number", multipleOf: 0.1 })).toEqual([]);
  expect(wrong(0.35, { type: "number", multipleOf: 0.1 })).toEqual([" ui.form.multiple"]);
});

test("a schema that refers to itself ends, and a reference to nowhere asks for nothing", () => {
  const tree: JsonSchema = { type: "object", properties: { child: { $ref: "#" } }, additionalProperties: false };
  expect(wrong({ child: { child: { leaf: 1 } } }, tree)).toEqual(["/child/child/leaf ui.form.extra"]);
  expect(wrong({ a: 1 }, { properties: { a: { $ref: "#/$defs/none" } } })).toEqual([]);
  expect(resolved({ $ref: "#" }, { $ref: "#" })).toEqual({});
});

test("a form begins with what defaults say and with what is needed", () => {
  expect(initialOf(DEPLOY)).toEqual({ times: 1 });
  expect(
    initialOf({
      type: "object",
      properties: {
        on: { type: "boolean" },
        where: { type: "object", properties: { x: { default: 3 } } },
        tags: { type: "array", items: {} },
      },
      required: ["on", "where", "tags"],
    }),
  ).toEqual({ on: false, where: { x: 3 }, tags: [] });
});

test("each part has the field that its schema asks for, and JSON where there is none", () => {
  const kind = (schema: JsonSchema): string => shapeOf(resolved(schema, schema)).kind;
  expect(kind({ anyOf: [{ type: "integer" }, { type: "null" }] })).toBe("number");
  expect(kind({ oneOf: [{ const: "a" }, { const: "b" }] })).toBe("choice");
  expect(kind({ type: ["string", "null"] })).toBe("text");
  expect(kind({ type: "object", additionalProperties: { type: "string" } })).toBe("json");
  expect(kind({ anyOf: [{ type: "string" }, { type: "number" }] })).toBe("json");
  expect(kind({})).toBe("json");
  expect(shapeOf({ type: "string", writeOnly: true })).toEqual({ kind: "text", input: "password", long: false });
  expect(shapeOf({ type: "string", maxLength: 400 })).toEqual({ kind: "text", input: "text", long: true });
});
