/** Shows the toasts. */

import { X } from "lucide-react";
import { useText } from "../i18n/text.ts";
import { Button, IconButton } from "./Button.tsx";
import "./toasts.css";
import { useToasts } from "./toasts.ts";

export function Toasts() {
  const text = useText();
  const toasts = useToasts((state) => state.toasts);
  const close = useToasts((state) => state.close);
  return (
    <section className="toasts" aria-label={text("ui.messages")} aria-live="polite">
      {toasts.map((toast) => (
        <div key={toast.id} className={`toast toast-${toast.tone}`} role={toast.tone === "bad" ? "alert" : "status"}>
          <p>{toast.text}</p>
          {toast.action ? (
            <Button
              small
              tone="quiet"
              onClick={() => {
                toast.action?.run();
                close(toast.id);
              }}
            >
              {toast.action.label}
            </Button>
          ) : null}
          <IconButton small icon={X} label={text("ui.close")} onClick={() => close(toast.id)} />
        </div>
      ))}
    </section>
  );
}
