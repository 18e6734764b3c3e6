/** What a note says; a double click, or Enter on the card, lets one write it. */

import { useState } from "react";
import type { Card } from "../board/model.ts";
import { changeCard } from "../board/store.ts";
import { useText } from "../i18n/text.ts";
import "./note-body.css";
import { focusCard, useView } from "./view.ts";

export function NoteBody({ card }: { readonly card: Card }) {
  const text = useText();
  const isWriting = useView((state) => state.writing === card.id);
  const said = typeof card.content.text === "string" ? card.content.text : "";
  if (isWriting) return <Writing card={card} said={said} />;
  return (
    <p
      className={said ? "note-body nowheel" : "note-body note-body-empty"}
      onDoubleClick={() => useView.setState({ writing: card.id })}
    >
      {said || text("canvas.note.empty")}
    </p>
  );
}

function Writing({ card, said }: { readonly card: Card; readonly said: string }) {
  const text = useText();
  const [draft, setDraft] = useState(said);
  const done = (): void => {
    useView.setState({ writing: undefined });
    if (draft !== said) void changeCard(card.id, { content: { ...card.content, text: draft } });
  };
  return (
    <textarea
      className="note-body note-writing nodrag nowheel"
      aria-label={text("canvas.note.label")}
      value={draft}
      ref={focusAtEnd}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={done}
      onKeyDown={(event) => {
        if (event.key !== "Escape" && !(event.key === "Enter" && (event.ctrlKey || event.metaKey))) return;
        event.stopPropagation();
        event.currentTarget.blur();
        focusCard(card.id);
      }}
    />
  );
}

function focusAtEnd(field: HTMLTextAreaElement | null): void {
  if (field === null || document.activeElement === field) return;
  field.focus({ preventScroll: true });
  field.setSelectionRange(field.value.length, field.value.length);
}
