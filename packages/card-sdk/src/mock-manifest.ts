/** A manifest as the mock host needs it: its tools with their schemas, its permissions with what they imply. */

import type { ErrorObject, ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { CardSdkError } from "./errors.js";
import type { MockSetting } from "./mock-settings.js";

export interface MockTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema?: object;
  readonly readOnly?: boolean;
  readonly timeoutMs?: number;
}

/** What of `toolwire-card.json` is looked at; import that file as it is. `toolwire card validate` checks the rest. */
export interface MockManifest {
  readonly name: string;
  readonly displayName?: unknown;
  readonly version: string;
  readonly permissions?: ReadonlyArray<string | { readonly id: string; readonly optional?: boolean }>;
  readonly tools?: readonly MockTool[];
  readonly settings?: readonly MockSetting[];
  readonly [key: string]: unknown;
}

const IMPLIED: { readonly [permission: string]: string } = {
  "agents.output": "agents.read",
  "agents.prompt": "agents.read",
  "terminals.write": "agents.read",
  "fs.write": "fs.read",
};

const FORMATS: { readonly [name: string]: (text: string) => boolean } = {
  uri: (text) => URL.canParse(text),
  "date-time": (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(text) && !Number.isNaN(Date.parse(text)),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  email: (text) => /^[^@\s]+@[^@\s]+$/.test(text),
  color: (text) => /^#[0-9a-f]{6}$/i.test(text),
  uuid: (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text),
};

/** The tools of a manifest, with the check of their arguments. */
export class MockTools {
  readonly #tools = new Map<string, { readonly tool: MockTool; readonly check: ValidateFunction }>();

  constructor(manifest: MockManifest) {
    const ajv = new Ajv2020({ strict: false, allErrors: true, formats: FORMATS });
    for (const tool of manifest.tools ?? []) {
      if (this.#tools.has(tool.name)) throw new Error(`the manifest has two tools of the name ${tool.name}`);
      this.#tools.set(tool.name, { tool, check: ajv.compile(tool.inputSchema ?? { type: "object" }) });
    }
  }

  has(name: string): boolean {
    return this.#tools.has(name);
  }

  /**
   * A tool whose arguments are to be `args`.
   *
   * @throws CardSdkError if there is no such tool, or they do not fit its schema.
   */
  checked(name: string, args: unknown): MockTool {
    const found = this.#tools.get(name);
    if (found === undefined) throw new CardSdkError("tool_not_found", `the manifest has no tool ${JSON.stringify(name)}`);
    if (!found.check(args)) {
      const wrong = (found.check.errors ?? []).map(said).join("; ");
      throw new CardSdkError("invalid_param", `the arguments of ${name} do not fit its inputSchema: ${wrong}`);
    }
    return found.tool;
  }
}

/** What a card may do once its package is accepted; optional permissions are not among it. */
export function permitted(manifest: MockManifest): readonly string[] {
  const asked = (manifest.permissions ?? [])
    .filter((one) => typeof one === "string" || one.optional !== true)
    .map((one) => (typeof one === "string" ? one : one.id));
  return [...new Set(asked.flatMap((one) => [one, IMPLIED[one] ?? one]))].sort();
}

function said(error: ErrorObject): string {
  const named = "additionalProperty" in error.params ? ` (${String(error.params.additionalProperty)})` : "";
  return `${error.instancePath || "/"} ${error.message ?? error.keyword}${named}`;
}
