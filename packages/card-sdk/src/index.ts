/** Write cards of the Toolwire canvas: tools for agents, and what a card may ask of its host. */

export type { ToolCall } from "./call.js";
export type { About, CardContext, ConfirmOptions, Ran, RunOptions } from "./card.js";
export { Card } from "./card.js";
export { CallCancelled, CardSdkError, isCardSdkError } from "./errors.js";
export type { ConnectOptions } from "./frame.js";
export { card, connect } from "./frame.js";
export type { AnyArguments, ToolHandler } from "./handlers.js";
export type { AgentRef, CancelCode, CardRef, ImagePart, Json, LogLevel, Peer, TextPart } from "./protocol.js";
export { PROTOCOL } from "./protocol.js";
export type { ImageType, ToolResultPayload } from "./results.js";
export { toolError, toolImage, toolResult, toolText } from "./results.js";
export type { SettingsListener, SettingValues } from "./settings.js";
