/** A dialog with a form and one button that sends it. */

import { type ReactNode, useId } from "react";
import { useText } from "../i18n/text.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import type { Sending } from "./useSending.ts";

interface FormDialogProps {
  readonly title: string;
  readonly submit: string;
  readonly sending: Sending;
  readonly onSubmit: () => Promise<void>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function FormDialog({ title, submit, sending, onSubmit, onClose, children }: FormDialogProps) {
  const text = useText();
  const form = useId();
  const actions = (
    <>
      <Button onClick={onClose}>{text("ui.cancel")}</Button>
      <Button type="submit" form={form} tone="primary" busy={sending.busy}>
        {submit}
      </Button>
    </>
  );
  return (
    <Dialog title={title} onClose={onClose} actions={actions}>
      <form
        id={form}
        onSubmit={(event) => {
          event.preventDefault();
          void sending.send(onSubmit);
        }}
      >
        {children}
        {sending.problem ? (
          <p className="field-problem" role="alert">
            {sending.problem}
          </p>
        ) : null}
      </form>
    </Dialog>
  );
}
