/** The frame of one card: a page of others, in a sandbox of an opaque origin, which reaches the host by its port alone. */

import { useEffect, useRef } from "react";
import { useText } from "../i18n/text.ts";
import { type FrameListener, linkFrame } from "./frame-link.ts";
import { AWAKE_MS, changeLife, sleepCards, useLiving } from "./living.ts";

/** How long a page may take to speak to the host, once it is begun. */
const READY_MS = 10_000;

interface CardFrameProps {
  readonly card: string;
  readonly title: string;
  readonly package: string;
  readonly address: string;
  /** One without tools need not speak to the host. */
  readonly hasTools: boolean;
}

export function CardFrame({ card, title, package: packageId, address, hasTools }: CardFrameProps) {
  const text = useText();
  const frame = useRef<HTMLIFrameElement>(null);
  const words = useRef({ slow: "", restless: "" });
  words.current = { slow: text("cards.why.slow"), restless: text("cards.why.restless") };
  // The frame's address is set here and not in the markup, so that nothing is missed of what it says first.
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const unlink = linkFrame(element, { package: packageId, card }, listenerOf(card, words));
    const slow = window.setTimeout(() => {
      if (phaseOf(card) !== "starting") return;
      changeLife(card, hasTools ? { phase: "failed", why: words.current.slow } : { phase: "awake" });
    }, READY_MS);
    element.src = address;
    return () => {
      window.clearTimeout(slow);
      unlink();
    };
  }, [card, packageId, address, hasTools]);
  return (
    <iframe ref={frame} className="card-frame" title={title} sandbox="allow-scripts" referrerPolicy="no-referrer" />
  );
}

function phaseOf(card: string) {
  return useLiving.getState().cards[card]?.phase;
}

function listenerOf(card: string, words: { readonly current: { readonly restless: string } }): FrameListener {
  return {
    onReady: () => changeLife(card, { phase: "awake", why: "" }),
    onLost: () => changeLife(card, { phase: "lost" }),
    onReplaced: () => {
      sleepCards([card]);
      changeLife(card, { phase: "elsewhere" });
    },
    onRefused: (why) => changeLife(card, { phase: "failed", why, calls: 0 }),
    onRestless: () => changeLife(card, { phase: "failed", why: words.current.restless, calls: 0 }),
    onCalls: (calls) => changeLife(card, { calls, wantedUntil: performance.now() + AWAKE_MS }),
    onStuck: (isStuck) => changeLife(card, { phase: isStuck ? "stuck" : "awake" }),
  };
}
