/** A button that opens a form, and the secret that the form has made, which will not be shown again. */

import { Plus } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useText } from "../i18n/text.ts";
import { Button } from "../ui/Button.tsx";
import { Copyable } from "../ui/Copyable.tsx";
import { Dialog } from "../ui/Dialog.tsx";

/** What the form is given: to leave it, and to hand on what it has made. */
export interface Making {
  readonly onClose: () => void;
  readonly onMade: (secret: string) => void;
}

interface MakeSecretProps {
  readonly title: string;
  readonly text: string;
  readonly label: string;
  readonly disabled?: boolean;
  readonly form: (making: Making) => ReactNode;
  readonly onMade: () => void;
}

export function MakeSecret({ title, text: description, label, disabled, form, onMade }: MakeSecretProps) {
  const text = useText();
  const [isMaking, setIsMaking] = useState(false);
  const [secret, setSecret] = useState<string>();
  const close = () => setSecret(undefined);
  const made = (key: string) => {
    setIsMaking(false);
    setSecret(key);
    onMade();
  };
  const done = (
    <Button tone="primary" onClick={close}>
      {text("ui.close")}
    </Button>
  );
  return (
    <>
      <Button tone="primary" icon={Plus} disabled={disabled} onClick={() => setIsMaking(true)}>
        {title}
      </Button>
      {isMaking ? form({ onClose: () => setIsMaking(false), onMade: made }) : null}
      {secret ? (
        <Dialog title={title} description={description} onClose={close} actions={done}>
          <Copyable label={label} value={secret} />
        </Dialog>
      ) : null}
    </>
  );
}
