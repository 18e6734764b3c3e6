/** A window above the page, with a title, which Escape closes and which keeps the focus inside. */

import { X } from "lucide-react";
import { Dialog as Primitive } from "radix-ui";
import type { ReactNode } from "react";
import { useText } from "../i18n/text.ts";
import { IconButton } from "./Button.tsx";
import "./dialog.css";

interface DialogProps {
  readonly title: string;
  readonly description?: string;
  readonly wide?: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Buttons at the foot, the main one last. */
  readonly actions?: ReactNode;
}

const FIELDS = "input:not([type=hidden]), select, textarea";

/** Begin at the first field, else at the main button; the cross in the corner is the last that people want. */
function focusFirst(event: Event): void {
  const dialog = event.currentTarget as HTMLElement;
  const field = dialog.querySelector<HTMLElement>(`.dialog-body :is(${FIELDS})`);
  const found = field ?? dialog.querySelector<HTMLElement>(".dialog-actions > :last-child");
  event.preventDefault();
  (found ?? dialog).focus(); // not the button that closes it
}

export function Dialog({ title, description, wide, onClose, children, actions }: DialogProps) {
  const text = useText();
  return (
    <Primitive.Root open onOpenChange={(open) => (open ? undefined : onClose())}>
      <Primitive.Portal>
        <Primitive.Overlay className="dialog-scrim" />
        <Primitive.Content
          className={wide ? "dialog dialog-wide" : "dialog"}
          onOpenAutoFocus={focusFirst}
          {...(description ? {} : { "aria-describedby": undefined })}
        >
          <header className="dialog-head">
            <div>
              <Primitive.Title className="dialog-title">{title}</Primitive.Title>
              {description ? (
                <Primitive.Description className="dialog-description">{description}</Primitive.Description>
              ) : null}
            </div>
            <Primitive.Close asChild>
              <IconButton icon={X} label={text("ui.close")} />
            </Primitive.Close>
          </header>
          <div className="dialog-body">{children}</div>
          {actions ? <footer className="dialog-actions">{actions}</footer> : null}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}
