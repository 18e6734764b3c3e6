/** The details of a copy of a package. */

import type { Card } from "../board/model.ts";
import { useText } from "../i18n/text.ts";

export function CardPanel({ card }: { readonly card: Card }) {
  const text = useText();
  return (
    <p className="card-panel">
      {text("cards.card")} · {card.state}
    </p>
  );
}
