/** Pages behind tabs; only the chosen one is there. */

import { Tabs as Primitive } from "radix-ui";
import type { ReactNode } from "react";
import "./tabs.css";

export interface Tab {
  readonly id: string;
  readonly label: string;
  readonly content: ReactNode;
}

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly initial?: string;
  /** Which is open, where somebody else keeps that. */
  readonly value?: string;
  readonly onChange?: (id: string) => void;
}

export function Tabs({ label, tabs, initial, value, onChange }: TabsProps) {
  const open = value === undefined ? { defaultValue: initial ?? tabs[0]?.id ?? "" } : { value };
  return (
    <Primitive.Root className="tabs" {...open} {...(onChange ? { onValueChange: onChange } : {})}>
      <Primitive.List className="tabs-list" aria-label={label}>
        {tabs.map((tab) => (
          <Primitive.Trigger key={tab.id} className="tabs-tab" value={tab.id}>
            {tab.label}
          </Primitive.Trigger>
        ))}
      </Primitive.List>
      {tabs.map((tab) => (
        <Primitive.Content key={tab.id} className="tabs-page" value={tab.id}>
          {tab.content}
        </Primitive.Content>
      ))}
    </Primitive.Root>
  );
}
