/** A window with a field and a list under it: type to narrow the list down, walk it with the arrow keys, Enter chooses. */

import type { LucideIcon } from "lucide-react";
import { Dialog as Primitive } from "radix-ui";
import { type KeyboardEvent, useId, useState } from "react";
import { useText } from "../i18n/text.ts";
import "./picker.css";

export interface Choice {
  readonly id: string;
  readonly section: string;
  readonly icon: LucideIcon;
  /** A class for the icon's colour. */
  readonly tone?: string | undefined;
  readonly name: string;
  readonly detail?: string | undefined;
  readonly keys?: string | undefined;
  /** Why it cannot be chosen. */
  readonly obstacle?: string | undefined;
  readonly run: () => void;
}

interface PickerProps {
  readonly title: string;
  readonly hint?: string;
  readonly choices: readonly Choice[];
  readonly onClose: () => void;
}

export function Picker({ title, hint, choices, onClose }: PickerProps) {
  const text = useText();
  const list = useId();
  const [wanted, setWanted] = useState("");
  const [at, setAt] = useState(0);
  const shown = bySection(matching(choices, wanted));
  const possible = shown.filter((choice) => choice.obstacle === undefined);
  const active = possible[Math.min(at, possible.length - 1)];
  const run = (choice: Choice): void => {
    onClose();
    choice.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && possible.length > 0) {
      event.preventDefault();
      setAt((Math.min(at, possible.length - 1) + step + possible.length) % possible.length);
    } else if (event.key === "Enter" && active) {
      event.preventDefault();
      run(active);
    }
  };
  return (
    <Primitive.Root open onOpenChange={(open) => (open ? undefined : onClose())}>
      <Primitive.Portal>
        <Primitive.Overlay className="dialog-scrim" />
        <Primitive.Content className="picker" aria-describedby={undefined}>
          <Primitive.Title className={hint ? "picker-title" : "visually-hidden"}>{hint ?? title}</Primitive.Title>
          <input
            className="picker-field"
            role="combobox"
            aria-expanded
            aria-controls={list}
            aria-activedescendant={active ? `${list}-${active.id}` : undefined}
            aria-label={title}
            placeholder={title}
            value={wanted}
            onChange={(event) => {
              setWanted(event.target.value);
              setAt(0);
            }}
            onKeyDown={onKeyDown}
          />
          <div id={list} role="listbox" aria-label={title} className="picker-list">
            {shown.map((choice, index) => (
              <Row
                key={choice.id}
                id={`${list}-${choice.id}`}
                choice={choice}
                active={choice === active}
                first={shown[index - 1]?.section !== choice.section}
                onPoint={() => setAt(Math.max(0, possible.indexOf(choice)))}
                onChoose={() => run(choice)}
              />
            ))}
          </div>
          {shown.length === 0 ? <p className="picker-none">{text("ui.picker.none", { wanted })}</p> : null}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

interface RowProps {
  readonly id: string;
  readonly choice: Choice;
  readonly active: boolean;
  readonly first: boolean;
  readonly onPoint: () => void;
  readonly onChoose: () => void;
}

function Row({ id, choice, active, first, onPoint, onChoose }: RowProps) {
  const { icon: Icon, tone, name, detail, keys, obstacle, section } = choice;
  return (
    <>
      {first ? (
        <div className="picker-section" role="presentation">
          {section}
        </div>
      ) : null}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys, as a combobox does */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field above, as in a combobox */}
      <div
        id={id}
        role="option"
        className="picker-row"
        aria-selected={active}
        aria-disabled={obstacle !== undefined}
        ref={(row) => {
          if (active) row?.scrollIntoView({ block: "nearest" });
        }}
        onPointerMove={obstacle || active ? undefined : onPoint}
        onClick={obstacle ? undefined : onChoose}
      >
        <Icon aria-hidden size={16} className={tone} />
        <span className="picker-name">{name}</span>
        {(obstacle ?? detail) ? <span className="picker-detail">{obstacle ?? detail}</span> : null}
        {keys ? <kbd>{keys}</kbd> : null}
      </div>
    </>
  );
}

/** Those that have every word that was typed in their name or detail. */
export function matching(choices: readonly Choice[], wanted: string): readonly Choice[] {
  const parts = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  return choices.filter((choice) => {
    const said = `${choice.name} ${choice.detail ?? ""} ${choice.section}`.toLowerCase();
    return parts.every((part) => said.includes(part));
  });
}

/** The same, those of a section together; sections come in the order in which they begin. */
export function bySection(choices: readonly Choice[]): readonly Choice[] {
  const sections = new Map<string, Choice[]>();
  for (const choice of choices) sections.set(choice.section, [...(sections.get(choice.section) ?? []), choice]);
  return [...sections.values()].flat();
}
