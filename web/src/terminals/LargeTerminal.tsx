/** A terminal in a window of its own above the page; on a phone it takes all of it. */

import { X } from "lucide-react";
import { Dialog } from "radix-ui";
import { useRef } from "react";
import { useBoard } from "../board/store.ts";
import { useText } from "../i18n/text.ts";
import { IconButton } from "../ui/Button.tsx";
import "../ui/title-bar.css";
import { showLarge, useTerminals } from "./store.ts";
import { TerminalPane } from "./TerminalPane.tsx";

export function LargeTerminal() {
  const text = useText();
  const close = useRef<HTMLButtonElement>(null);
  const id = useTerminals((state) => state.large);
  const card = useBoard((state) => (id === undefined ? undefined : state.board.cards[id]));
  if (card === undefined) return null;
  return (
    <Dialog.Root open onOpenChange={() => showLarge(undefined)}>
      <Dialog.Portal>
        <Dialog.Overlay className="dialog-scrim" />
        <Dialog.Content
          className="terminal-large"
          aria-describedby={undefined}
          onEscapeKeyDown={(event) => {
            // Escape is for the program, as long as it has the focus.
            if (event.target instanceof Element && event.target.closest(".terminal-view")) event.preventDefault();
          }}
        >
          <header className="title-bar terminal-large-head">
            <Dialog.Title asChild>
              <h2>{card.title}</h2>
            </Dialog.Title>
            <IconButton ref={close} icon={X} label={text("ui.close")} onClick={() => showLarge(undefined)} />
          </header>
          <div className="terminal-large-body">
            <TerminalPane card={card} onLeave={() => close.current?.focus()} />
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
