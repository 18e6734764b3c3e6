/** Buttons. An icon alone must be named: `label` is its name and its tooltip. */

import type { LucideIcon } from "lucide-react";
import type { ButtonHTMLAttributes, Ref } from "react";
import "./button.css";
import { Tip } from "./Tip.tsx";

type Tone = "plain" | "primary" | "danger" | "quiet";

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly tone?: Tone;
  readonly icon?: LucideIcon;
  readonly busy?: boolean;
  readonly small?: boolean;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function Button({ tone = "plain", icon: Icon, busy, small, className, children, ...rest }: ButtonProps) {
  const classes = ["button", `button-${tone}`, small ? "button-small" : "", className ?? ""].join(" ");
  return (
    <button type="button" {...rest} className={classes} aria-busy={busy || undefined} disabled={busy || rest.disabled}>
      {Icon ? <Icon aria-hidden size={small ? 14 : 16} /> : null}
      {children}
    </button>
  );
}

interface IconButtonProps extends Omit<ButtonProps, "children" | "icon"> {
  readonly icon: LucideIcon;
  readonly label: string;
  readonly side?: "top" | "right" | "bottom" | "left";
}

export function IconButton({ icon: Icon, label, side, tone = "quiet", small, className, ...rest }: IconButtonProps) {
  const classes = ["button", "button-icon", `button-${tone}`, small ? "button-small" : "", className ?? ""].join(" ");
  return (
    <Tip text={label} side={side ?? "bottom"}>
      <button type="button" {...rest} aria-label={label} className={classes}>
        <Icon aria-hidden size={small ? 14 : 18} />
      </button>
    </Tip>
  );
}
