/**
 * As much of a frame as `connect()` needs, in Node: `window`, `parent`, messages between them. There is no DOM.
 *
 * `window` is the global object, as in a browser, so timers, `fetch` and the like are where cards look for them.
 */

import { CONNECT_EVENT, HELLO_EVENT, PROTOCOL } from "./protocol.js";

/** The page around a frame that is made here. */
export interface Page {
  /** Connect the frame, unless that has happened already: at its `card.hello`, or when its script has run. */
  connect(): void;
}

/**
 * Make this process a frame, whose page gives it `port`.
 *
 * @param instance the copy that the frame is for; all of the package, if it is not said.
 */
export function openFrame(port: MessagePort, instance?: string): Page {
  const frame = new EventTarget();
  let isConnected = false;
  const page: Page & { postMessage(message: unknown): void } = {
    connect() {
      if (isConnected) return;
      isConnected = true;
      const data = { event: CONNECT_EVENT, data: { protocol: PROTOCOL, ...(instance ? { instance } : {}) } };
      const event = new Event("message");
      for (const [key, value] of Object.entries({ data, ports: [port], source: page, origin: "null" })) {
        Object.defineProperty(event, key, { value, enumerable: true });
      }
      frame.dispatchEvent(event);
    },
    postMessage(message) {
      const said = message as { readonly event?: unknown } | null;
      if (said?.event === HELLO_EVENT) queueMicrotask(page.connect);
    },
  };
  const shown = {
    window: globalThis,
    self: globalThis,
    parent: page,
    top: page,
    addEventListener: frame.addEventListener.bind(frame),
    removeEventListener: frame.removeEventListener.bind(frame),
    dispatchEvent: frame.dispatchEvent.bind(frame),
  };
  for (const [name, value] of Object.entries(shown)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  return page;
}
