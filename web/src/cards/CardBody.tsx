/** What a copy of a package shows on the board. */

import type { Card } from "../board/model.ts";
import { useText } from "../i18n/text.ts";

export function CardBody({ card }: { readonly card: Card }) {
  const text = useText();
  return (
    <p className="card-body">
      {text("cards.card")} · {card.state}
    </p>
  );
}
