/**
 * What a card and its host say to each other: types and limits. Made by scripts/make_card_types.py from
 * src/toolwire/wire/card_messages.py, whose words these are; do not edit. A field that is optional here has a default
 * there, which leaving it out means.
 */

/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export const PROTOCOL = 1;
export const MAX_MESSAGE_BYTES = 4194304;
export const MAX_RESULT_BYTES = 1048576;
export const MAX_PARTS = 16;
export const MAX_PROGRESS_CHARS = 200;
export const MAX_ERROR_CHARS = 4000;
export const MAX_LOG_CHARS = 2000;
export const CONNECT_EVENT = "card.connect";
export const HELLO_EVENT = "card.hello";
export const PONG_EVENT = "card.pong";
/** The deepest that lists and objects may be inside each other in a message. */
export const MAX_DEPTH = 128;
/** The code with which the host closes a connection because another one speaks for the card now. */
export const REPLACED = 4001;
/** Codes of refusals that only cards are told; all others are those of the host's REST surface. */
export const FAULT_CODES = ["not_connected", "not_ready", "permission_denied", "quota_exceeded"] as const;

export type CancelCode = "cancelled" | "deadline" | "disconnected" | "disabled" | "unloaded";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** One copy of a package. */
export interface CardRef {
  readonly id: string;
  readonly name: string;
}

/** Who calls. */
export interface AgentRef {
  readonly id: string;
  readonly name: string;
}

/** Text in a tool's result. */
export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

/** A picture in a tool's result; `data` is base64, `mime_type` image/png, image/jpeg, image/webp or image/gif. */
export interface ImagePart {
  readonly type: "image";
  readonly data: string;
  readonly mimeType: string;
}

/** What a call gives, 1 to 16 parts (cards.md 46-49). */
export interface ToolResult {
  readonly content: ReadonlyArray<TextPart | ImagePart>;
  readonly isError?: boolean;
}

/** `host.ready`. `instance` is the copy that a web card's frame is for. */
export interface ReadyParams {
  readonly protocol: number;
  readonly sdk: string;
  readonly instance?: string | null;
}

/** An agent or terminal of the card's workspace. `connected` says that an arrow joins it to the card. */
export interface Peer {
  readonly id: string;
  readonly name: string;
  readonly kind: "ai" | "shell";
  readonly status: "exited" | "finished" | "idle" | "needs-input" | "working";
  readonly connected: boolean;
}

/** What a copy is set to, also as `settings.changed`: values by key, and the keys of the secrets that are set. */
export interface SettingsData {
  readonly card: string;
  readonly values: { readonly [key: string]: Json };
  readonly secrets?: ReadonlyArray<string>;
}

/**
 * The context. `cards` are the copies that this connection is for; `disabled` the tools that are switched off.
 * `settings` are those of each copy, where the manifest declares any.
 */
export interface Ready {
  readonly protocol: number;
  readonly package: string;
  readonly version: string;
  readonly cards: ReadonlyArray<CardRef>;
  readonly disabled?: ReadonlyArray<string>;
  readonly permissions?: ReadonlyArray<string>;
  readonly language?: string;
  readonly settings?: ReadonlyArray<SettingsData>;
}

/** `tools.respond`: the end of a call; exactly one of `result` and `error` (words for the model). */
export interface RespondParams {
  readonly callId: string;
  readonly result?: ToolResult;
  readonly error?: string;
}

/** `tools.progress`. */
export interface ProgressParams {
  readonly callId: string;
  readonly message: string;
}

/** `tools.setEnabled`, for all copies of the package. */
export interface SetEnabledParams {
  readonly tool: string;
  readonly enabled: boolean;
}

/** Methods that are about one copy and need nothing else: `agents.list`, `storage.keys`, `storage.clear`. */
export interface CardParams {
  readonly card?: string | null;
}

/** `agents.list`. */
export interface PeersResult {
  readonly agents: ReadonlyArray<Peer>;
}

/** `terminals.run`; `timeout_ms` from 1,000 to 120,000. `call_id` names the tool call that this is done for. */
export interface CommandParams {
  readonly terminal: string;
  readonly command: string;
  readonly timeoutMs?: number;
  readonly card?: string | null;
  readonly callId?: string | null;
}

/** What became of a command. `exit_code` is `None` when it was still running at its time-out. */
export interface CommandResult {
  readonly exitCode: number | null;
  readonly output: string;
  readonly truncated?: boolean;
  readonly timedOut?: boolean;
}

/** `terminals.write`: characters as if typed. */
export interface WriteParams {
  readonly terminal: string;
  readonly data: string;
  readonly card?: string | null;
}

/** `ui.confirm`. With `call_id` it is asked on behalf of that call, whose deadline declines it. */
export interface ConfirmParams {
  readonly title: string;
  readonly message?: string;
  readonly confirmLabel?: string;
  readonly cancelLabel?: string;
  readonly tone?: "danger" | "neutral";
  readonly card?: string | null;
  readonly callId?: string | null;
}

/** Whether the user said yes. */
export interface ConfirmResult {
  readonly confirmed: boolean;
}

/** `storage.get`, `storage.delete`. `scope` "package" is shared by all copies. */
export interface StoreParams {
  readonly key: string;
  readonly scope?: "instance" | "package";
  readonly card?: string | null;
}

/** `storage.set`; `value` is any JSON value. */
export interface StoreSetParams {
  readonly key: string;
  readonly value: Json;
  readonly scope?: "instance" | "package";
  readonly card?: string | null;
}

/** `storage.keys`, `storage.clear`. */
export interface StoreScopeParams {
  readonly scope?: "instance" | "package";
  readonly card?: string | null;
}

/** `storage.get`; `found` false where nothing is kept under the key. */
export interface ValueResult {
  readonly found: boolean;
  readonly value?: Json;
}

/** `storage.keys`. */
export interface KeysResult {
  readonly keys: ReadonlyArray<string>;
}

/** `settings.set`; `value` null puts it back to its default. Secrets are the user's alone to set. */
export interface SettingParams {
  readonly key: string;
  readonly value: Json;
  readonly card?: string | null;
}

/** `log.write`; without `card` it is about the package. */
export interface LogParams {
  readonly level: LogLevel;
  readonly text: string;
  readonly card?: string | null;
}

/** Nothing to say. */
export interface Done {
}

/** `tools.call`: `tool` is the manifest's name, `exposed_name` the one that the agent used. */
export interface ToolCallData {
  readonly callId: string;
  readonly tool: string;
  readonly exposedName: string;
  readonly arguments: { readonly [key: string]: Json };
  readonly agent: AgentRef;
  readonly card: CardRef;
  readonly deadline: number;
  readonly remainingMs: number;
}

/** `tools.cancel`: nobody waits for the call any more. */
export interface ToolCancelData {
  readonly callId: string;
  readonly code: CancelCode;
  readonly reason: string;
}

/** `cards.changed`: the copies that this connection is for now. */
export interface CardsData {
  readonly cards: ReadonlyArray<CardRef>;
}

/** `agents.changed`: read the list again, if it matters. */
export interface PeersData {
  readonly card: string;
}

/** `host.ping`, every 5 s where a connection cannot tell by itself that its other end is gone. */
export interface PingData {
}

/**
 * `card.connect`: what the canvas page posts to a card's frame, as an event, with a `MessagePort` for the rest.
 * `instance` is the copy that the frame is for; the card says it again in `host.ready`.
 */
export interface ConnectData {
  readonly protocol: number;
  readonly instance?: string | null;
}

/** Why a request was refused. `code` is one of ours (`error_rows.ERRORS`) or of `FAULT_CODES`. */
export interface Fault {
  readonly code: string;
  readonly message: string;
  readonly retryAfterMs?: number | null;
}

/** What goes with each method. */
export interface Params {
  readonly "host.ready": ReadyParams;
  readonly "tools.respond": RespondParams;
  readonly "tools.progress": ProgressParams;
  readonly "tools.setEnabled": SetEnabledParams;
  readonly "agents.list": CardParams;
  readonly "terminals.run": CommandParams;
  readonly "terminals.write": WriteParams;
  readonly "ui.confirm": ConfirmParams;
  readonly "storage.get": StoreParams;
  readonly "storage.set": StoreSetParams;
  readonly "storage.delete": StoreParams;
  readonly "storage.keys": StoreScopeParams;
  readonly "storage.clear": StoreScopeParams;
  readonly "settings.set": SettingParams;
  readonly "log.write": LogParams;
}

/** What comes back of each method. */
export interface Results {
  readonly "host.ready": Ready;
  readonly "tools.respond": Done;
  readonly "tools.progress": Done;
  readonly "tools.setEnabled": Done;
  readonly "agents.list": PeersResult;
  readonly "terminals.run": CommandResult;
  readonly "terminals.write": Done;
  readonly "ui.confirm": ConfirmResult;
  readonly "storage.get": ValueResult;
  readonly "storage.set": Done;
  readonly "storage.delete": Done;
  readonly "storage.keys": KeysResult;
  readonly "storage.clear": Done;
  readonly "settings.set": Done;
  readonly "log.write": Done;
}

/** What comes with each event of the host. */
export interface Events {
  readonly "tools.call": ToolCallData;
  readonly "tools.cancel": ToolCancelData;
  readonly "cards.changed": CardsData;
  readonly "agents.changed": PeersData;
  readonly "settings.changed": SettingsData;
  readonly "host.ping": PingData;
}

/** A method of the host. */
export type Method = keyof Params;
/** The methods, for those who must tell one from another name. */
export const METHODS: readonly Method[] = [
  "host.ready",
  "tools.respond",
  "tools.progress",
  "tools.setEnabled",
  "agents.list",
  "terminals.run",
  "terminals.write",
  "ui.confirm",
  "storage.get",
  "storage.set",
  "storage.delete",
  "storage.keys",
  "storage.clear",
  "settings.set",
  "log.write",
];
