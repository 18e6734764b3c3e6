/** How the mock host answers what a card asks, as the real one would: arrows and permissions are looked at. */

import { CardSdkError } from "./errors.js";
import type { CardRef, CommandParams, CommandResult, ConfirmParams, Json, LogLevel, Method } from "./protocol.js";
import type { MockSettings } from "./mock-settings.js";
import type { Params, Peer, Results, StoreScopeParams, WriteParams } from "./protocol.js";

export interface MockLog {
  readonly level: LogLevel;
  readonly text: string;
  readonly card?: string;
}

/** An agent or terminal; an arrow joins it to the card unless `connected` is false. */
export type MockPeer = Pick<Peer, "id" | "name"> & Partial<Peer>;

/** What the user says to a question. */
export type MockConfirm = boolean | ((asked: ConfirmParams) => boolean | Promise<boolean>);

/** What a command gives: its output, or all of it. */
export type MockRun = (
  asked: CommandParams,
) => string | Partial<CommandResult> | Promise<string | Partial<CommandResult>>;

export type Answers = { [M in Method]?: (params: Params[M]) => Results[M] | Promise<Results[M]> };

/** What the answers are made of; tests may change it at any time. */
export interface MockState {
  readonly copies: readonly CardRef[];
  readonly logs: MockLog[];
  readonly written: Array<{ readonly terminal: string; readonly data: string }>;
  readonly storage: { readonly instance: Map<string, Json>; readonly package: Map<string, Json> };
  readonly permissions: ReadonlySet<string>;
  readonly settings: MockSettings;
  agents: readonly MockPeer[];
  confirm: MockConfirm;
  run: MockRun;
}

/** The answers to all methods that are not about calls. */
export function answersOf(state: MockState): Answers {
  return {
    "agents.list": () => {
      need(state, "agents.read");
      return { agents: state.agents.map(peerOf) };
    },
    "terminals.run": async (asked) => {
      needTerminal(state, asked.terminal);
      const ran = await state.run(asked);
      return { exitCode: 0, output: "", ...(typeof ran === "string" ? { output: ran } : ran) };
    },
    "terminals.write": ({ terminal, data }: WriteParams) => {
      needTerminal(state, terminal);
      state.written.push({ terminal, data });
      return {};
    },
    "ui.confirm": async (asked) => ({
      confirmed: typeof state.confirm === "boolean" ? state.confirm : await state.confirm(asked),
    }),
    "storage.get": (asked) => {
      const kept = kind(state, asked);
      return kept.has(asked.key) ? { found: true, value: kept.get(asked.key) ?? null } : { found: false };
    },
    "storage.set": (asked) => {
      kind(state, asked).set(asked.key, asked.value);
      return {};
    },
    "storage.delete": (asked) => {
      kind(state, asked).delete(asked.key);
      return {};
    },
    "storage.keys": (asked) => ({ keys: [...kind(state, asked).keys()].sort() }),
    "storage.clear": (asked) => {
      kind(state, asked).clear();
      return {};
    },
    "settings.set": ({ key, value, card }) => {
      if (state.settings.isSecret(key)) {
        throw new CardSdkError("permission_denied", `${JSON.stringify(key)} is a secret, which the user alone sets`);
      }
      state.settings.set(key, value, card ?? state.copies[0]?.id);
      return {};
    },
    "log.write": (line) => {
      state.logs.push({ level: line.level, text: line.text, ...(line.card ? { card: line.card } : {}) });
      return {};
    },
  };
}

function peerOf(peer: MockPeer): Peer {
  return { kind: "ai", status: "idle", connected: true, ...peer };
}

function kind(state: MockState, asked: StoreScopeParams): Map<string, Json> {
  return state.storage[asked.scope ?? "instance"];
}

function need(state: MockState, permission: string): void {
  if (state.permissions.has(permission)) return;
  const words = `the manifest does not ask for ${JSON.stringify(permission)}; add it to permissions`;
  throw new CardSdkError("permission_denied", words);
}

function needTerminal(state: MockState, id: string): void {
  need(state, "terminals.write");
  const found = state.agents.map(peerOf).find((peer) => peer.id === id);
  if (found?.kind !== "shell" || !found.connected) {
    throw new CardSdkError("not_connected", `no arrow joins the card to a terminal ${JSON.stringify(id)}`);
  }
}
