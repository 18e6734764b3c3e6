/** What the user has set for a card's copies, as its author reads and changes it; the host keeps and checks it. */

import type { About, Card } from "./card.js";
import { CardSdkError } from "./errors.js";
import type { Json, SettingsData } from "./protocol.js";

/** All values of a copy by key, without secrets. */
export type SettingValues = { readonly [key: string]: Json };

/** Hears all values of a copy, and its id. */
export type SettingsListener = (values: SettingValues, card: string) => void;

/** What the host has told of the settings of all copies. */
export class KnownSettings {
  readonly listeners = new Set<SettingsListener>();
  #known = new Map<string, SettingsData>();

  get size(): number {
    return this.#known.size;
  }

  of(copy: string): SettingsData | undefined {
    return this.#known.get(copy);
  }

  /** At a new connection; who has heard of others before hears what is new. */
  begin(all: readonly SettingsData[]): void {
    const before = this.#known;
    this.#known = new Map(all.map((data) => [data.card, data]));
    for (const data of all) {
      const old = before.get(data.card);
      if (old !== undefined && JSON.stringify(old) !== JSON.stringify(data)) this.#tell(data);
    }
  }

  change(data: SettingsData): void {
    this.#known.set(data.card, data);
    this.#tell(data);
  }

  /** Forget all other copies. */
  keep(copies: ReadonlySet<string>): void {
    for (const copy of [...this.#known.keys()]) if (!copies.has(copy)) this.#known.delete(copy);
  }

  #tell(data: SettingsData): void {
    for (const listener of [...this.listeners]) listener(data.values, data.card);
  }
}

/** The settings that the manifest declares, of each copy; those of the package are the same in all. */
export class Settings {
  readonly #card: Card;
  readonly #known: KnownSettings;

  constructor(card: Card, known: KnownSettings) {
    this.#card = card;
    this.#known = known;
  }

  /** What a setting is set to, else its default in the manifest. A secret has no value here. */
  value<T = Json>(key: string, options: About = {}): T | undefined {
    return this.values(options)[key] as T | undefined;
  }

  /** All values by key, without secrets. */
  values(options: About = {}): SettingValues {
    return this.#of(options)?.values ?? {};
  }

  /** Whether the user has set a secret. */
  hasSecret(key: string, options: About = {}): boolean {
    return this.#of(options)?.secrets?.includes(key) ?? false;
  }

  /** Set what is no secret; `null` puts it back to its default. */
  async set(key: string, value: Json, options: About = {}): Promise<void> {
    const card = this.#card.copyOf(options);
    await this.#card.request("settings.set", { key, value, ...(card === undefined ? {} : { card }) });
  }

  /** Hear of every change from now on; returns what ends that. */
  onChange(listener: SettingsListener): () => void {
    this.#known.listeners.add(listener);
    return () => this.#known.listeners.delete(listener);
  }

  #of(options: About): SettingsData | undefined {
    const copy = this.#card.copyOf(options);
    if (copy !== undefined) return this.#known.of(copy);
    if (this.#known.size > 1) throw new CardSdkError("invalid_param", "say in `card` which copy this is about");
    return undefined;
  }
}
