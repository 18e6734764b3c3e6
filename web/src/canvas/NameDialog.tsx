/** Asks for the name of something. */

import { useState } from "react";
import { useText } from "../i18n/text.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { TextField } from "../ui/Field.tsx";

interface NameDialogProps {
  readonly title: string;
  readonly label: string;
  readonly initial: string;
  /** Take the name that is there, too. */
  readonly always?: boolean;
  readonly onNamed: (name: string) => Promise<void>;
  readonly onClose: () => void;
}

const LONGEST = 80;

export function NameDialog({ title, label, initial, always = false, onNamed, onClose }: NameDialogProps) {
  const text = useText();
  const [written, setName] = useState(initial);
  const name = written.trim();
  const keep = async (): Promise<void> => {
    onClose();
    if (always || name !== initial) await onNamed(name);
  };
  const actions = (
    <>
      <Button onClick={onClose}>{text("ui.cancel")}</Button>
      <Button tone="primary" disabled={name === ""} onClick={() => void keep()}>
        {text("canvas.save")}
      </Button>
    </>
  );
  return (
    <Dialog title={title} onClose={onClose} actions={actions}>
      <TextField
        label={label}
        value={written}
        maxLength={LONGEST}
        autoFocus
        onFocus={(event) => event.target.select()}
        onChange={(event) => setName(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && name !== "" && !event.nativeEvent.isComposing) void keep();
        }}
      />
    </Dialog>
  );
}
