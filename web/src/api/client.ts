/** Asks the host over REST: typed by its own document (`schema.ts`), answered in its envelope, refused with `ApiError`. */

import createClient from "openapi-fetch";
import { text } from "../i18n/text.ts";
import type { components, paths } from "./schema.ts";

export type Schemas = components["schemas"];

/** Why the host refused. `code` is one of the host's; "offline" when it could not be reached. */
export class ApiError extends Error {
  readonly code: string;
  readonly status: number;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, status = 0, data: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.status = status;
    this.data = data;
  }
}

export const api = createClient<paths>({ baseUrl: "", credentials: "same-origin" });

/** How a question to `api` is answered. */
export interface Answered<T> {
  readonly data?: { readonly success?: boolean; readonly data?: T } | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

/** What the host answered, out of its envelope. */
export async function ask<T>(answered: Promise<Answered<T>>): Promise<T> {
  const { data, error, response } = await reached(answered);
  if (error !== undefined || !response.ok) throw refusal(error, response.status);
  return data?.data as T;
}

/** Words for whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function reached<T>(answered: Promise<Answered<T>>): Promise<Answered<T>> {
  try {
    return await answered;
  } catch (error) {
    if (error instanceof SyntaxError) throw new ApiError("unexpected", text("error.unexpected"));
    throw new ApiError("offline", text("error.offline"));
  }
}

function refusal(error: unknown, status: number): ApiError {
  if (status === 401) for (const listener of signedOut) listener();
  const body = error as { readonly error?: { code?: unknown; message?: unknown; details?: unknown } } | undefined;
  const told = body?.error;
  if (typeof told?.code !== "string" || typeof told.message !== "string") {
    return new ApiError("unexpected", text("error.unexpected"), status);
  }
  const details = typeof told.details === "object" && told.details !== null ? told.details : {};
  return new ApiError(told.code, told.message, status, details as Record<string, unknown>);
}

const signedOut = new Set<() => void>();

/** Be told when the host does not know this browser any more; gives back how to stop that. */
export function onSignedOut(listener: () => void): () => void {
  signedOut.add(listener);
  return () => signedOut.delete(listener);
}
