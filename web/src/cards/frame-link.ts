/** Connects a card's frame: hears that its script listens, gives it a port, and has a relay carry what is said there. */

import { CONNECT_EVENT, HELLO_EVENT, PROTOCOL } from "../../../packages/card-sdk/src/protocol.ts";
import { CardRelay, type RelayListener } from "./relay.ts";

/** A frame that begins anew more often than that within the time is not connected any more. */
const MOST_STARTS = 8;
const STARTS_MS = 10_000;

/** How long the word of a script that listens may take, once its page is loaded. */
const HELLO_MS = 250;

export interface FrameListener extends RelayListener {
  /** It begins anew again and again. */
  onRestless(): void;
}

/** Keep a frame connected from now on; gives back how to end that. */
export function linkFrame(
  frame: HTMLIFrameElement,
  about: { readonly package: string; readonly card: string },
  listener: FrameListener,
): () => void {
  let relay: CardRelay | undefined;
  let saidHello = false;
  let starts: number[] = [];
  let loaded: number | undefined;

  const connect = (): void => {
    relay?.close();
    relay = undefined;
    const now = performance.now();
    starts = [...starts.filter((at) => now - at < STARTS_MS), now];
    if (starts.length > MOST_STARTS) {
      listener.onRestless();
      return;
    }
    const channel = new MessageChannel();
    relay = new CardRelay(channel.port1, about, listener);
    const message = { event: CONNECT_EVENT, data: { protocol: PROTOCOL, instance: about.card } };
    // A frame of an opaque origin cannot be named; what is sent here says nothing but that it may speak.
    frame.contentWindow?.postMessage(message, "*", [channel.port2]);
  };

  const onMessage = ({ source, data }: MessageEvent): void => {
    if (source !== frame.contentWindow || source === null) return;
    if ((data as { readonly event?: unknown } | null)?.event !== HELLO_EVENT) return;
    saidHello = true;
    connect();
  };
  // One that has said hello while it was loading is connected already; the word may still be on its way.
  const onLoad = (): void => {
    window.clearTimeout(loaded);
    loaded = window.setTimeout(() => {
      if (!saidHello) connect();
      saidHello = false;
    }, HELLO_MS);
  };

  window.addEventListener("message", onMessage);
  frame.addEventListener("load", onLoad);
  return () => {
    window.clearTimeout(loaded);
    window.removeEventListener("message", onMessage);
    frame.removeEventListener("load", onLoad);
    relay?.close();
  };
}
