/** What a note says. */

import type { Card } from "../board/model.ts";
import "./note-body.css";

export function NoteBody({ card }: { readonly card: Card }) {
  const said = card.content.text;
  return <p className="note-body">{typeof said === "string" ? said : ""}</p>;
}
