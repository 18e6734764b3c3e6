/** One setting of a card, as a field of its type. */

import { useText } from "../i18n/text.ts";
import { Button } from "../ui/Button.tsx";
import { CheckField, SelectField, TextArea, TextField } from "../ui/Field.tsx";
import type { Setting, Typed } from "./settings.ts";

interface SettingFieldProps {
  readonly setting: Setting;
  readonly value: string | boolean;
  /** What was typed and is not saved yet. */
  readonly typed: Typed | undefined;
  /** Whether a secret is set. */
  readonly isSet: boolean;
  readonly problem: string | undefined;
  /** Hears what is typed; `undefined` takes that back. */
  readonly onType: (typed: Typed | undefined) => void;
}

export function SettingField(props: SettingFieldProps) {
  const text = useText();
  const { setting, value, onType } = props;
  if (setting.type === "secret") return <SecretField {...props} />;
  const isDefault =
    setting.default === null ? value === "" : value === String(setting.default) || value === setting.default;
  return (
    <div className="setting-field">
      <PlainField {...props} />
      {isDefault || setting.type === "boolean" || (setting.default === null && setting.type !== "color") ? null : (
        <Button small onClick={() => onType(null)}>
          {text("cards.set.default")}
        </Button>
      )}
    </div>
  );
}

function PlainField({ setting, value, problem, onType }: SettingFieldProps) {
  const text = useText();
  const about = useAbout(setting);
  if (setting.type === "boolean") {
    return <CheckField {...about} checked={value === true} onChange={(event) => onType(event.target.checked)} />;
  }
  const shared = {
    ...about,
    problem,
    required: setting.required,
    onChange: (event: { readonly target: { readonly value: string } }) => onType(event.target.value),
  };
  const placeholder = setting.placeholder || undefined;
  const words = String(value);
  switch (setting.type) {
    case "text":
      return <TextArea {...shared} value={words} maxLength={setting.max_length} placeholder={placeholder} />;
    case "number":
      return (
        <TextField
          {...shared}
          type="number"
          value={words}
          min={setting.min ?? undefined}
          max={setting.max ?? undefined}
          step={setting.step ?? "any"}
          placeholder={placeholder}
        />
      );
    case "color":
      return <TextField {...shared} type="color" value={words || "#000000"} />;
    case "select":
      return (
        <SelectField {...shared} value={words}>
          {setting.default === null ? <option value="">{text("cards.set.choose")}</option> : null}
          {setting.options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </SelectField>
      );
    default:
      return <TextField {...shared} value={words} maxLength={setting.max_length} placeholder={placeholder} />;
  }
}

/** A secret is typed once: whether it is set is all that is ever shown of it. */
function SecretField({ setting, typed, isSet, problem, onType }: SettingFieldProps) {
  const text = useText();
  const { label, hint } = useAbout(setting);
  const names = { label: setting.label };
  if (typed === null || (isSet && typed === undefined)) {
    return (
      <div className="field">
        <span className="setting-field-name">{label}</span>
        <p className="field-hint">{text(typed === null ? "cards.set.secret_goes" : "cards.set.secret")}</p>
        <div className="setting-field-acts">
          <Button small onClick={() => onType("")}>
            {text("cards.set.replace", names)}
          </Button>
          <Button small onClick={() => onType(typed === null ? undefined : null)}>
            {text(typed === null ? "cards.set.keep" : "cards.set.clear", names)}
          </Button>
        </div>
      </div>
    );
  }
  return (
    <div className="setting-field">
      <TextField
        label={label}
        hint={hint}
        problem={problem}
        type="password"
        autoComplete="new-password"
        value={typeof typed === "string" ? typed : ""}
        maxLength={setting.max_length}
        placeholder={setting.placeholder || text("cards.set.secret_none")}
        onChange={(event) => onType(event.target.value === "" && !isSet ? undefined : event.target.value)}
      />
      {isSet ? (
        <Button small onClick={() => onType(undefined)}>
          {text("cards.set.keep", names)}
        </Button>
      ) : null}
    </div>
  );
}

function useAbout(setting: Setting): { readonly label: string; readonly hint: string } {
  const text = useText();
  const label = setting.required ? text("cards.set.required", { label: setting.label }) : setting.label;
  const shared = setting.scope === "package" ? text("cards.set.shared") : "";
  return { label, hint: [setting.description, shared].filter(Boolean).join(" · ") };
}
