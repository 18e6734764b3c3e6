/** What the user of the mock host has set, and the check of it: the manifest's types, options and limits. */

import { CardSdkError } from "./errors.js";
import type { CardRef, Json, SettingsData } from "./protocol.js";

/** A setting of the manifest, as far as it is looked at. */
export interface MockSetting {
  readonly key: string;
  readonly type: string;
  readonly default?: Json;
  readonly required?: boolean;
  readonly scope?: string;
  readonly maxLength?: number;
  readonly min?: number;
  readonly max?: number;
  readonly options?: ReadonlyArray<{ readonly value: string }>;
  readonly [key: string]: unknown;
}

const FITS: { readonly [type: string]: (value: Json) => boolean } = {
  number: (value) => typeof value === "number" && Number.isFinite(value),
  boolean: (value) => typeof value === "boolean",
  color: (value) => typeof value === "string" && /^#[0-9a-f]{6}$/i.test(value),
};

const isText = (value: Json): boolean => typeof value === "string";

export class MockSettings {
  readonly #declared: ReadonlyMap<string, MockSetting>;
  readonly #copies: readonly CardRef[];
  readonly #tell: (data: SettingsData) => void;
  readonly #own = new Map<string, Map<string, Json>>();
  readonly #shared = new Map<string, Json>();

  constructor(
    declared: readonly MockSetting[],
    copies: readonly CardRef[],
    tell: (data: SettingsData) => void,
  ) {
    this.#declared = new Map(declared.map((one) => [one.key, one]));
    this.#copies = copies;
    this.#tell = tell;
  }

  isSecret(key: string): boolean {
    return this.#declared.get(key)?.type === "secret";
  }

  /** Of all copies; nothing where the manifest declares no settings. */
  all(): readonly SettingsData[] {
    return this.#declared.size === 0 ? [] : this.#copies.map(({ id }) => this.#of(id));
  }

  /** Set something, and tell the card; `null` puts it back to its default. */
  set(key: string, value: Json, card: string | undefined): void {
    const declared = this.#declared.get(key);
    const wrong = declared === undefined ? "is no setting of this card" : whatIsWrong(declared, value);
    if (declared === undefined || card === undefined || wrong !== undefined) {
      throw new CardSdkError("invalid_param", `setting ${JSON.stringify(key)} ${wrong ?? "has no copy to be set for"}`);
    }
    const isShared = declared.scope === "package";
    const kept = isShared ? this.#shared : (this.#own.get(card) ?? new Map<string, Json>());
    if (!isShared) this.#own.set(card, kept);
    if (value === null) kept.delete(key);
    else kept.set(key, value);
    for (const { id } of this.#copies) if (isShared || id === card) this.#tell(this.#of(id));
  }

  #of(card: string): SettingsData {
    const kept = new Map([...this.#shared, ...(this.#own.get(card) ?? [])]);
    const declared = [...this.#declared.values()];
    const secrets = declared.filter(({ key, type }) => type === "secret" && kept.has(key)).map(({ key }) => key);
    const values = declared
      .filter(({ type }) => type !== "secret")
      .map((one) => [one.key, kept.get(one.key) ?? one.default] as const)
      .filter((entry): entry is readonly [string, Json] => entry[1] !== undefined);
    return { card, values: Object.fromEntries(values), secrets };
  }
}

function whatIsWrong(declared: MockSetting, value: Json): string | undefined {
  const { type, required, options, maxLength, min, max } = declared;
  if (value === null || value === "") {
    if (required && declared.default === undefined && type !== "secret") return "is required; give it a value";
    if (value === null) return undefined;
  }
  if (!(FITS[type] ?? isText)(value)) return `is no value of a ${type}`;
  if (options !== undefined && !options.some((option) => option.value === value)) return "is none of the options";
  if (typeof value === "string" && maxLength !== undefined && value.length > maxLength) {
    return `takes ${maxLength} characters, not ${value.length}`;
  }
  if (typeof value === "number" && min !== undefined && value < min) return `is at least ${min}`;
  if (typeof value === "number" && max !== undefined && value > max) return `is at most ${max}`;
  return undefined;
}
