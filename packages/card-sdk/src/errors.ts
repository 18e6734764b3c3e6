/** The errors that authors of cards meet. */

import type { CancelCode } from "./protocol.js";

// A card's bundle and its tests may each have a copy of this module: a class would not tell across copies.
const MARK: unique symbol = Symbol.for("toolwire.card-sdk.error") as never;

/** The host refused a request, or could not be asked; `code` says which, e.g. `not_connected` or `permission_denied`. */
export class CardSdkError extends Error {
  readonly code: string;
  /** When it is worth trying again, if the host said so. */
  readonly retryAfterMs: number | undefined;
  readonly [MARK] = true;

  constructor(code: string, message: string, retryAfterMs?: number | null) {
    super(message);
    this.name = "CardSdkError";
    this.code = code;
    this.retryAfterMs = retryAfterMs ?? undefined;
  }
}

/** Why a call is not wanted any more: the `reason` of its `signal`. What takes a signal rejects with it. */
export class CallCancelled extends CardSdkError {
  declare readonly code: CancelCode;

  constructor(code: CancelCode, message: string) {
    super(code, message);
    this.name = "AbortError";
  }
}

/** Whether something that was thrown is an error of this library, and of a certain code if one is named. */
export function isCardSdkError(thrown: unknown, code?: string): thrown is CardSdkError {
  return thrown instanceof Error && MARK in thrown && (code === undefined || (thrown as CardSdkError).code === code);
}
