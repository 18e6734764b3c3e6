/** A text that is made to be copied: an address, a key that is shown once, a configuration. */

import { Check, Copy } from "lucide-react";
import { useRef, useState } from "react";
import { useText } from "../i18n/text.ts";
import { IconButton } from "./Button.tsx";
import { showToast } from "./toasts.ts";
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
  const shown = useRef<HTMLPreElement>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value);
    } catch {
      // Browsers keep the clipboard from pages that came over plain http from another machine.
      if (shown.current) window.getSelection()?.selectAllChildren(shown.current);
      showToast({ tone: "info", text: text("ui.copy_by_hand") });
      return;
    }
    setCopied(true);
    window.setTimeout(() => setCopied(false), CONFIRMED_MS);
  };
  return (
    <div className={block ? "copyable copyable-block" : "copyable"}>
      <section aria-label={label} className="copyable-text">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys */}
        <pre ref={shown} tabIndex={0}>
          {value}
        </pre>
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
