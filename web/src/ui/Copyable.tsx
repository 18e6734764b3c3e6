/** A text that is made to be copied: an address, a key that is shown once, a configuration. */

import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { useText } from "../i18n/text.ts";
import { IconButton } from "./Button.tsx";
import "./copyable.css";

interface CopyableProps {
  readonly label: string;
  readonly value: string;
  readonly block?: boolean;
}

const CONFIRMED_MS = 1_600;

export function Copyable({ label, value, block }: CopyableProps) {
  const text = useText();
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(value);
    setCopied(true);
    window.setTimeout(() => setCopied(false), CONFIRMED_MS);
  };
  return (
    <div className={block ? "copyable copyable-block" : "copyable"}>
      <section aria-label={label} className="copyable-text">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys */}
        <pre tabIndex={0}>{value}</pre>
      </section>
      <IconButton
        small
        icon={copied ? Check : Copy}
        label={copied ? text("ui.copied") : `${text("ui.copy")}: ${label}`}
        onClick={() => void copy()}
      />
    </div>
  );
}
