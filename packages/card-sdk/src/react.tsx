/** React's way to a card: a provider, and tools that live as long as a component. */

import type { PropsWithChildren, ReactElement } from "react";
import { createContext, useContext, useEffect, useInsertionEffect, useRef } from "react";
import type { AnyArguments, Card, ToolHandler } from "./index.js";
import { card as frameCard } from "./index.js";

const CardContext = createContext<Card>(frameCard);

/** Gives `card` to all components below; without a provider they have the card of the frame. */
export function CardProvider({ card, children }: PropsWithChildren<{ readonly card: Card }>): ReactElement {
  return <CardContext.Provider value={card}>{children}</CardContext.Provider>;
}

/** The card. */
export function useCard(): Card {
  return useContext(CardContext);
}

/**
 * Answer the calls of a tool for as long as the component is there (cards.md 69-71). The `handler` of the latest
 * rendering is used; there is no moment without one between two renderings.
 */
export function useTool<Args = AnyArguments>(name: string, handler: ToolHandler<Args>): void {
  const card = useCard();
  const latest = useRef(handler);
  useInsertionEffect(() => {
    latest.current = handler;
  });
  useEffect(() => card.tools.handle<Args>(name, (args, call) => latest.current(args, call)), [card, name]);
}
