/** Shows a secret that will not be shown again. */

import { useText } from "../i18n/text.ts";
import { Button } from "../ui/Button.tsx";
import { Copyable } from "../ui/Copyable.tsx";
import { Dialog } from "../ui/Dialog.tsx";

interface SecretDialogProps {
  readonly title: string;
  readonly text: string;
  readonly label: string;
  readonly secret: string;
  readonly onClose: () => void;
}

export function SecretDialog({ title, text: description, label, secret, onClose }: SecretDialogProps) {
  const text = useText();
  const done = (
    <Button tone="primary" onClick={onClose}>
      {text("ui.close")}
    </Button>
  );
  return (
    <Dialog title={title} description={description} onClose={onClose} actions={done}>
      <Copyable label={label} value={secret} />
    </Dialog>
  );
}
