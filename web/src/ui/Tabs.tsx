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
}

export function Tabs({ label, tabs, initial }: TabsProps) {
  return (
    <Primitive.Root className="tabs" defaultValue={initial ?? tabs[0]?.id ?? ""}>
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
