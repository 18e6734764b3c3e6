/** What stands where there is nothing yet: why, and what to do about it. */

import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import "./empty.css";

interface EmptyProps {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

export function Empty({ icon: Icon, title, children, action }: EmptyProps) {
  return (
    <div className="empty">
      <Icon aria-hidden size={28} strokeWidth={1.5} />
      <h2>{title}</h2>
      {children ? <p>{children}</p> : null}
      {action ? <div className="empty-action">{action}</div> : null}
    </div>
  );
}

export function Waiting({ label }: { readonly label: string }) {
  return (
    <div className="waiting" role="status">
      <span className="waiting-ring" aria-hidden />
      {label}
    </div>
  );
}

/** Something went wrong, in words; `again` tries it once more. */
export function Failed({ message, again }: { readonly message: string; readonly again?: ReactNode }) {
  return (
    <div className="failed" role="alert">
      <p>{message}</p>
      {again}
    </div>
  );
}
