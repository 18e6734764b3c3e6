/** A menu that opens from a button, or where the pointer was pressed; arrow keys walk through it. */

import type { LucideIcon } from "lucide-react";
import { Check } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ReactElement, ReactNode } from "react";
import "./menu.css";

interface MenuProps {
  readonly trigger: ReactElement;
  readonly children: ReactNode;
  readonly align?: "start" | "center" | "end";
}

export function Menu({ trigger, children, align = "end" }: MenuProps) {
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align={align} sideOffset={6} collisionPadding={8}>
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

interface MenuItemProps {
  readonly icon?: LucideIcon;
  readonly checked?: boolean;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly hint?: string;
  readonly onSelect: () => void;
  readonly children: ReactNode;
}

export function MenuItem({ icon: Icon, checked, danger, disabled = false, hint, onSelect, children }: MenuItemProps) {
  const inside = (
    <>
      {Icon ? (
        <Icon aria-hidden size={15} />
      ) : (
        <span className="menu-check">{checked ? <Check size={15} /> : null}</span>
      )}
      <span className="menu-words">{children}</span>
      {hint ? <kbd className="menu-hint">{hint}</kbd> : null}
    </>
  );
  const classes = danger ? "menu-item menu-danger" : "menu-item";
  if (checked === undefined) {
    return (
      <DropdownMenu.Item className={classes} disabled={disabled} onSelect={onSelect}>
        {inside}
      </DropdownMenu.Item>
    );
  }
  return (
    <DropdownMenu.CheckboxItem className={classes} checked={checked} disabled={disabled} onSelect={onSelect}>
      {inside}
    </DropdownMenu.CheckboxItem>
  );
}

export function MenuLabel({ children }: { readonly children: ReactNode }) {
  return <DropdownMenu.Label className="menu-label">{children}</DropdownMenu.Label>;
}

export function MenuLine() {
  return <DropdownMenu.Separator className="menu-line" />;
}
