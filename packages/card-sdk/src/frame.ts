/** Finds the host of a frame: the page that the frame is in posts `card.connect` to it, with a port for all the rest. */

import { Card } from "./card.js";
import { CardSdkError } from "./errors.js";
import type { ConnectData } from "./protocol.js";
import { CONNECT_EVENT, HELLO_EVENT, PROTOCOL } from "./protocol.js";
import { wordsOf } from "./texts.js";

const CONNECT_MS = 10_000;

export interface ConnectOptions {
  /** Speak over this port instead of looking for the page around the frame; gives a card of its own. */
  readonly port?: MessagePort;
  /** The copy that the card is for, with `port`. */
  readonly instance?: string;
  /** How long to wait for the page; 10,000 if it is not said. */
  readonly timeoutMs?: number;
}

interface Found {
  readonly port: MessagePort;
  readonly instance: string | undefined;
}

// Heard from the moment that this module is loaded: a page connects once, perhaps before a card asks for it.
let found: Found | undefined;
let isWanted = false;
let isOpen: Promise<void> | undefined;
const waiting = new Set<() => void>();

/** The card of this frame. Its handlers may be registered at once; what it asks of the host waits until it is there. */
export const card: Card = new Card(() => reach(CONNECT_MS));

/** The card of this frame, once it is connected; rejects with a `CardSdkError` where there is no host. */
export async function connect(options: ConnectOptions = {}): Promise<Card> {
  if (options.port) {
    const own = new Card();
    await own.attach(options.port, options.instance);
    return own;
  }
  await reach(options.timeoutMs ?? CONNECT_MS);
  return card;
}

async function reach(timeoutMs: number): Promise<void> {
  isWanted = true;
  if (found === undefined) await arrival(timeoutMs);
  await open();
}

/** Attach the card to what was found, once. */
function open(): Promise<void> {
  if (found === undefined) return Promise.resolve();
  isOpen ??= card.attach(found.port, found.instance);
  return isOpen;
}

function arrival(timeoutMs: number): Promise<void> {
  if (!isFramed()) {
    const words = "there is no host: this is no frame of a canvas; in a test, use createMockHost of @toolwire/card-sdk/testing";
    return Promise.reject(new CardSdkError("unavailable", words));
  }
  return new Promise((resolve, reject) => {
    const arrived = (): void => {
      clearTimeout(timer);
      waiting.delete(arrived);
      resolve();
    };
    const timer = setTimeout(() => {
      waiting.delete(arrived);
      reject(new CardSdkError("unavailable", `the page around this frame did not connect it within ${timeoutMs} ms`));
    }, timeoutMs);
    waiting.add(arrived);
  });
}

function isFramed(): boolean {
  return typeof window !== "undefined" && window.parent !== undefined && window.parent !== window;
}

function listen(): void {
  window.addEventListener("message", (event: MessageEvent) => {
    const message = event.data as { readonly event?: unknown; readonly data?: ConnectData } | null;
    const port = event.ports?.[0];
    if (event.source !== window.parent || message?.event !== CONNECT_EVENT || port === undefined) return;
    found = { port, instance: message.data?.instance ?? undefined };
    isOpen = undefined; // a page that connects again has lost what was there before
    if (isWanted) open().catch((error: unknown) => console.error(`the host refuses this card: ${wordsOf(error)}`));
    for (const arrived of [...waiting]) arrived();
  });
  // The page's origin is not known here, and nothing of this is secret.
  window.parent.postMessage({ event: HELLO_EVENT, data: { protocol: PROTOCOL } }, "*");
}

if (isFramed()) listen();
