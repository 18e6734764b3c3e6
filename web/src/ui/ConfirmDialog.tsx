/** Asks before something that cannot be undone; the button says what happens, not "OK". */

import { useState } from "react";
import { messageOf } from "../api/client.ts";
import { useText } from "../i18n/text.ts";
import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";

interface ConfirmDialogProps {
  readonly title: string;
  readonly message: string;
  readonly confirm: string;
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}

export function ConfirmDialog({ title, message, confirm, onConfirm, onClose }: ConfirmDialogProps) {
  const text = useText();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const run = async (): Promise<void> => {
    setBusy(true);
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      setProblem(messageOf(error));
      setBusy(false);
    }
  };
  const actions = (
    <>
      <Button onClick={onClose}>{text("ui.cancel")}</Button>
      <Button tone="danger" busy={busy} onClick={() => void run()}>
        {confirm}
      </Button>
    </>
  );
  return (
    <Dialog title={title} onClose={onClose} actions={actions}>
      <p>{message}</p>
      {problem ? (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      ) : null}
    </Dialog>
  );
}
